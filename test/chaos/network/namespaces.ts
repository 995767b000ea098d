/**
 * A network namespace per worker, with one cable (veth) to the server's: real TCP that loses real packets. For root on Linux.
 * Whoever sends to a wrong Ethernet address is heard by nobody and told nothing: that cuts one way, and takes `ip` only.
 * A namespace lives as long as its holder, which ends with this process, however that ends: nothing is left behind.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Network, NetworkFault, Path } from './network.ts';

const port = 7_070;
const nobody = '02:00:00:00:00:01';
const cable = 'cable';
const slow = ['root', 'tbf', 'rate', '16kbit', 'burst', '2kb', 'limit', '100kb'];

interface Addresses {
  readonly device: string;
  readonly server: string;
  readonly worker: string;
}

let rounds = 0;

/** Undefined where that is not permitted, or does not work. */
export async function namespaceNetwork(workers: number): Promise<Network | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined;
  const paths: Cable[] = [];
  // Of this process and this round alone: others run at the same time, and what a round leaves is cleared a moment later.
  const number = process.pid + ++rounds;
  const net = `10.${200 + (Math.floor(number / 250) % 50)}.${number % 250}`;
  const close = (): void => {
    for (const path of paths) path.close();
  };
  try {
    for (let at = 0; at < workers; at++) {
      const device = `dr${process.pid}.${rounds}.${at}`;
      paths.push(await Cable.lay({ device, server: `${net}.1`, worker: `${net}.${at + 2}` }));
    }
    return { kind: 'namespaces', listen: `${net}.1:${port}`, paths, close };
  } catch {
    close();
    return undefined;
  }
}

class Cable implements Path {
  readonly via: readonly string[];
  readonly faults: readonly NetworkFault[];
  readonly #addresses: Addresses;
  readonly #holder: ChildProcess;
  #healing: (() => void)[] = [];

  static async lay(addresses: Addresses): Promise<Cable> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec cat >/dev/null'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const gone = once(holder, 'exit').then(() => Promise.reject(new Error('no network namespace can be made')));
    await Promise.race([once(holder.stdout, 'data'), gone, once(holder, 'error')]);
    gone.catch(() => {});
    try {
      return new Cable(addresses, holder);
    } catch (error) {
      holder.kill('SIGKILL');
      throw error;
    }
  }

  constructor(addresses: Addresses, holder: ChildProcess) {
    const { device, server, worker } = addresses;
    const pid = String(holder.pid);
    this.via = ['nsenter', '--target', pid, '--net'];
    this.#addresses = addresses;
    this.#holder = holder;
    run('ip', 'link', 'add', device, 'type', 'veth', 'peer', 'name', cable, 'netns', pid);
    run('ip', 'address', 'add', server, 'peer', worker, 'dev', device);
    run('ip', 'link', 'set', device, 'up');
    this.#inside('ip', 'address', 'add', worker, 'peer', server, 'dev', cable);
    this.#inside('ip', 'link', 'set', cable, 'up');
    const canReset = works(() => this.#reset());
    const canSlow = works(() => this.#slow());
    this.heal();
    this.faults = [
      ...(['partition', 'to worker cut', 'from worker cut', 'refused'] as const),
      ...(canReset ? (['reset', 'half-open at server', 'half-open at worker'] as const) : []),
      ...(canSlow ? (['slow'] as const) : []),
    ];
  }

  open(serverUrl: () => string | undefined): string {
    return serverUrl() ?? `https://${this.#addresses.server}:${port}`;
  }

  begin(fault: NetworkFault): void {
    const { device, server, worker } = this.#addresses;
    if (fault === 'slow') this.#slow();
    // Without a cable who connects is told at once that there is no way.
    if (fault === 'refused') this.#forNow(cable, 'ip', ['link', 'set', cable, 'down'], ['link', 'set', cable, 'up']);
    const isCutTo = fault === 'partition' || fault === 'to worker cut' || fault.startsWith('half-open');
    const isCutFrom = fault === 'partition' || fault === 'from worker cut' || fault.startsWith('half-open');
    if (isCutTo) this.#forNow(device, 'ip', ...misled(worker, device));
    if (isCutFrom) this.#forNow(cable, 'ip', ...misled(server, cable));
    if (fault === 'reset' || fault === 'half-open at server') this.#reset();
    if (fault === 'half-open at worker') run('ss', '--kill', 'dst', worker);
  }

  heal(): void {
    for (const act of this.#healing.splice(0)) act();
  }

  /** TCP tries again after pauses that double: what was cut for a while is silent for as long again. */
  recoveryMs(ms: number): number {
    return Math.min(ms, 6_000) + 1_500;
  }

  close(): void {
    // It goes with its namespace, too, but only when the last orphaned connection in there has timed out.
    works(() => run('ip', 'link', 'delete', this.#addresses.device));
    this.#holder.kill('SIGKILL');
  }

  #reset(): void {
    this.#inside('ss', '--kill', 'dst', this.#addresses.server);
  }

  #slow(): void {
    for (const device of [this.#addresses.device, cable]) {
      this.#forNow(device, 'tc', ['qdisc', 'add', 'dev', device, ...slow], ['qdisc', 'delete', 'dev', device, 'root']);
    }
  }

  /** At that end of the cable, until the fault is healed. */
  #forNow(device: string, program: string, words: readonly string[], undo: readonly string[]): void {
    const at = (args: readonly string[]): void =>
      device === cable ? this.#inside(program, ...args) : run(program, ...args);
    at(words);
    this.#healing.push(() => at(undo));
  }

  #inside(...words: string[]): void {
    const [program = '', ...args] = [...this.via, ...words];
    run(program, ...args);
  }
}

const misled = (address: string, device: string): [string[], string[]] => [
  ['neighbour', 'replace', address, 'lladdr', nobody, 'dev', device, 'nud', 'permanent'],
  ['neighbour', 'delete', address, 'dev', device],
];

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' });
}

function works(act: () => void): boolean {
  try {
    act();
    return true;
  } catch {
    return false;
  }
}
