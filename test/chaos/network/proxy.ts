/**
 * A loopback proxy per worker. Owns its connections: each is a pair of sockets, `near` to the worker and `far` to the server.
 * What is stalled stays where it is, and is neither lost nor closed: as over TCP, it comes when the fault is over.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Network, NetworkFault, Path } from './network.ts';

type End = 'near' | 'far';
type Pair = Readonly<Record<End, Socket>>;

const slowMs = 700;
/** Nothing has to be sent again here: only this machine may be slow. */
const recoveryMs = 1_500;

const stalledBy: Partial<Record<NetworkFault, readonly End[]>> = {
  partition: ['near', 'far'],
  'from worker cut': ['near'],
  'to worker cut': ['far'],
};

export async function proxyNetwork(workers: number): Promise<Network> {
  const paths = await Promise.all(Array.from({ length: workers }, () => Relay.listen()));
  return {
    kind: 'proxy',
    paths,
    close: () => {
      for (const path of paths) path.close();
    },
  };
}

class Relay implements Path {
  readonly via = [];
  readonly faults: readonly NetworkFault[] = [
    ...['partition', 'to worker cut', 'from worker cut', 'reset', 'refused', 'slow'],
    ...['half-open at server', 'half-open at worker'],
  ] as NetworkFault[];
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** What waits for the end of the fault. */
  #held: (() => void)[] = [];
  #fault: NetworkFault | undefined;
  #serverUrl: () => string | undefined = () => undefined;

  static async listen(): Promise<Relay> {
    const server = createServer({ pauseOnConnect: true });
    const proxy = new Relay(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (near) => this.#accept(near));
  }

  open(serverUrl: () => string | undefined): string {
    this.#serverUrl = serverUrl;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  begin(fault: NetworkFault): void {
    this.#fault = fault;
    for (const pair of this.#pairs) {
      for (const end of stalledBy[fault] ?? []) pair[end].pause();
      if (fault === 'reset' || fault === 'refused') for (const end of ends) pair[end].resetAndDestroy();
      if (fault === 'half-open at server') this.#halve(pair, 'near');
      if (fault === 'half-open at worker') this.#halve(pair, 'far');
    }
  }

  heal(): void {
    this.#fault = undefined;
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.resume();
    const held = this.#held;
    this.#held = [];
    for (const act of held) act();
  }

  recoveryMs(): number {
    return recoveryMs;
  }

  close(): void {
    this.#server.close();
    for (const { near, far } of this.#pairs) for (const socket of [near, far]) socket.destroy();
  }

  /** A connection that comes while its server can't be reached is accepted, and hears nothing. */
  #accept(near: Socket): void {
    near.on('error', () => {});
    const isStalled = stalledBy[this.#fault ?? 'reset'] !== undefined;
    if (isStalled) this.#held.push(() => this.#accept(near));
    else this.#join(near);
  }

  #join(near: Socket): void {
    const url = this.#serverUrl();
    if (near.destroyed) return;
    if (this.#fault === 'refused' || url === undefined) return void near.resetAndDestroy();
    const { hostname, port } = new URL(url);
    const pair = { near, far: connect(Number(port), hostname) };
    this.#pairs.add(pair);
    this.#pass(pair, 'near', 'far');
    this.#pass(pair, 'far', 'near');
  }

  /** Whether it may not pass now what came from that end. */
  #stalls(end: End): boolean {
    return stalledBy[this.#fault ?? 'reset']?.includes(end) ?? false;
  }

  #pass(pair: Pair, from: End, to: End): void {
    const [source, target] = [pair[from], pair[to]];
    const delayed: (() => void)[] = [];
    const later = (act: () => void): void => {
      if (this.#stalls(from)) this.#held.push(act);
      else if (this.#fault === 'slow' || delayed.length > 0) {
        // What comes after what is late is late as well.
        delayed.push(act);
        setTimeout(() => delayed.shift()?.(), slowMs);
      } else act();
    };
    source.setNoDelay(true);
    source.on('error', () => {});
    source.on('data', (bytes) => later(() => target.writable && target.write(bytes)));
    source.on('end', () => later(() => target.end()));
    source.on('close', () => {
      const isHalved = source.listenerCount('data') === 0;
      if (isHalved) return;
      later(() => {
        target.destroy();
        this.#pairs.delete(pair);
      });
    });
    if (this.#stalls(from)) source.pause();
    else source.resume();
  }

  /** That end is reset at once; the other lives on, deaf and dumb, until the fault is over. */
  #halve(pair: Pair, end: End): void {
    const other = pair[end === 'near' ? 'far' : 'near'];
    for (const socket of [pair.near, pair.far]) socket.removeAllListeners('data').removeAllListeners('end');
    this.#pairs.delete(pair);
    pair[end].resetAndDestroy();
    other.resume();
    this.#held.push(() => other.resetAndDestroy());
  }
}

const ends: readonly End[] = ['near', 'far'];
