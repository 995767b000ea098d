/**
 * The virtual network: links between machines that carry whole texts in order, as WebSockets over TCP do.
 *
 * Owns: the links, what is on its way, which machines can't reach which.
 * 1. A direction of a link delivers in order, each text once, or the link is closed before the rest arrives.
 * 2. Behind a partition texts wait, as TCP sends again; a side that hears no answer to its pings for 5 to 10 s closes.
 * 3. A side hears of its close once and of nothing after it.
 * 4. Only a fault breaks these: a replay delivers a text of an old link on a later one of the same pair.
 */
import type { Link, LinkAddress, LinkListener, Net } from '../src/platform/env.ts';
import type { Kernel } from './kernel.ts';
import type { Event, Process } from './process.ts';
import type { Random } from './random.ts';

/** A message as the net sees it: it knows no types, so that a protocol may grow without it. */
export interface Message {
  readonly t: string;
  readonly [key: string]: unknown;
}

/** A text with what it carries; taken apart only for those who look inside. */
export class Frame {
  readonly text: string;
  readonly types: readonly string[];
  #messages: readonly Message[] | undefined;

  constructor(text: string) {
    this.text = text;
    this.types = typesOf(text) ?? this.messages.map(({ t }) => t);
  }

  get messages(): readonly Message[] {
    this.#messages ??= JSON.parse(this.text) as Message[];
    return this.#messages;
  }
}

const opening = '{"t":"';

/** Without parsing, as long as a message opens with its type and nothing within one looks like that. */
function typesOf(text: string): string[] | undefined {
  const types: string[] = [];
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + 1)) {
    types.push(text.slice(at + opening.length, text.indexOf('"', at + opening.length)));
  }
  return types.length === 0 ? undefined : types;
}

/** What hears of every text: the checks, and the faults that wait for a type of message. */
export interface NetWatcher {
  onSend(side: Side, frame: Frame): void;
  onDelivered(side: Side, frame: Frame): void;
  onOpened(client: Side): void;
}

export interface Server {
  readonly process: Process;
  accept(link: Link): LinkListener;
}

const handshakeMsMax = 5_000;
const pingMs = 5_000;
const closeMsMax = 30_000;
const latencyMs = { least: 0.2, most: 4 } as const;

type Item = { readonly type: 'frame'; readonly frame: Frame } | { readonly type: 'close'; readonly why: string };

/** One end of a link, and the direction that leads away from it. */
export class Side implements Link {
  readonly #net: VirtualNet;
  readonly link: number;
  readonly path: string;
  readonly process: Process;
  readonly isServer: boolean;
  readonly random: Random;
  listener: LinkListener = { onText: () => {}, onClose: () => {} };
  peer: Side | undefined;
  state: 'opening' | 'open' | 'closing' | 'closed' = 'opening';
  /** Nothing gets through any more, and nobody is told. */
  isCut = false;
  arrivesAt = 0;
  /** Until it is answered: when the client gives up. */
  handshake: Event | undefined;
  held: Item[] = [];

  constructor(net: VirtualNet, link: number, path: string, process: Process, isServer: boolean, random: Random) {
    this.#net = net;
    this.link = link;
    this.path = path;
    this.process = process;
    this.isServer = isServer;
    this.random = random;
  }

  send(text: string): boolean {
    if (this.state !== 'open' || !this.process.isAlive) return false;
    this.#net.sendFrame(this, new Frame(text));
    return true;
  }

  close(why: string): void {
    if (this.process.isAlive) this.#net.close(this, why);
  }
}

export class VirtualNet {
  readonly #kernel: Kernel;
  readonly #random: Random;
  readonly #sides = new Set<Side>();
  readonly #blocked = new Map<string, number>();
  watcher: NetWatcher | undefined;
  server: Server | undefined;
  #links = 0;

  constructor(kernel: Kernel, random: Random) {
    this.#kernel = kernel;
    this.#random = random;
  }

  get sides(): Iterable<Side> {
    return this.#sides;
  }

  /** The net as a process sees it. */
  of(process: Process, serverMachine: string): Net {
    return { connect: (address, listener) => this.#connect(process, serverMachine, address, listener) };
  }

  sendFrame(side: Side, frame: Frame): void {
    this.watcher?.onSend(side, frame);
    // The watcher may have ended the sender, or the link, in the act.
    if (side.process.isAlive && side.state === 'open') this.transmit(side, { type: 'frame', frame });
  }

  transmit(side: Side, item: Item, extraMs = 0): void {
    if (side.isCut || side.peer === undefined) return;
    if (this.isBlocked(side.process.machine, side.peer.process.machine)) {
      side.held.push(item);
      return;
    }
    const latency = side.random.between(latencyMs.least, latencyMs.most) + extraMs;
    side.arrivesAt = Math.max(side.arrivesAt + 1e-4, this.#kernel.now + latency);
    this.#arrive(side, item, side.arrivesAt - this.#kernel.now);
  }

  /** What is behind it on the link waits with it. */
  delay(side: Side, ms: number): void {
    side.arrivesAt = Math.max(side.arrivesAt, this.#kernel.now) + ms;
  }

  /** Delivers a text that this link never carried. */
  replay(to: Side, frame: Frame, delayMs: number): void {
    this.#kernel.post(to.process, delayMs, `⟲ ${frame.text}`, () => {
      if (to.state === 'open') this.#hand(to, frame);
    });
  }

  #arrive(side: Side, item: Item, delayMs: number): void {
    const peer = side.peer as Side;
    const what = item.type === 'frame' ? item.frame.text : `close ${peer.path}#${peer.link}`;
    this.#kernel.post(peer.process, delayMs, what, () => {
      if (peer.state === 'closed' || side.isCut) return;
      if (item.type === 'frame') return this.#hand(peer, item.frame);
      const isAnswer = peer.state === 'closing';
      this.#closed(peer, item.why);
      if (!isAnswer) this.transmit(peer, item);
    });
  }

  #hand(to: Side, frame: Frame): void {
    to.process.lastMessage = frame.types.at(-1) ?? '-';
    to.listener.onText(frame.text);
    this.watcher?.onDelivered(to, frame);
  }

  /** In order: what was sent before arrives, unless the peer can't be reached. */
  close(side: Side, why: string): void {
    if (side.state === 'closing' || side.state === 'closed') return;
    const wasOpen = side.state === 'open';
    side.state = 'closing';
    if (wasOpen) this.transmit(side, { type: 'close', why });
    const most = wasOpen ? closeMsMax : 0;
    this.#kernel.post(side.process, most, `close ${side.path}#${side.link}`, () => this.#closed(side, why));
  }

  /** At once, at this side; the peer hears of it if it can. */
  terminate(side: Side, why: string): void {
    const { peer } = side;
    if (side.state === 'closed') return;
    this.#closed(side, why);
    if (peer === undefined || peer.state === 'closed' || side.isCut) return;
    if (this.isBlocked(side.process.machine, peer.process.machine)) return;
    const latency = side.random.between(latencyMs.least, latencyMs.most);
    this.#kernel.post(peer.process, latency, `reset ${peer.path}#${peer.link}`, () => this.#closed(peer, why));
  }

  /** Both sides lose it, each in its own time; what is on its way is lost. */
  reset(side: Side): void {
    const { peer } = side;
    if (side.state === 'closed') return;
    for (const end of [side, peer]) {
      if (end === undefined || end.state === 'closed') continue;
      end.isCut = true;
      const latency = end.random.between(0, latencyMs.most);
      this.#kernel.post(end.process, latency, `reset ${end.path}#${end.link}`, () => this.#closed(end, 'it was reset'));
    }
  }

  /** And all other links of the same machine. */
  resetAll(side: Side): void {
    const { machine } = (side.isServer ? side.peer : side)?.process ?? side.process;
    for (const each of [...this.#sides]) if (each.process.machine === machine) this.reset(each);
  }

  /** Nothing gets through any more; each side learns it by its own pings, if at all in time. */
  halfOpen(side: Side): void {
    for (const end of [side, side.peer]) {
      if (end === undefined) continue;
      end.isCut = true;
      this.#watchPings(end, () => true);
    }
  }

  isBlocked(from: string, to: string): boolean {
    return from !== to && (this.#blocked.get(`${from}>${to}`) ?? 0) > 0;
  }

  /** Until what it gives back is called. */
  block(from: string, to: string): () => void {
    const key = `${from}>${to}`;
    this.#blocked.set(key, (this.#blocked.get(key) ?? 0) + 1);
    for (const side of this.#sides) {
      if (side.process.machine !== to || side.peer?.process.machine !== from) continue;
      this.#watchPings(side, () => this.isBlocked(from, to));
    }
    return () => {
      this.#blocked.set(key, (this.#blocked.get(key) ?? 1) - 1);
      if (!this.isBlocked(from, to)) this.#flush(from, to);
    };
  }

  #flush(from: string, to: string): void {
    for (const side of [...this.#sides]) {
      const { peer } = side;
      if (peer === undefined || side.process.machine !== from || peer.process.machine !== to) continue;
      for (const item of side.held.splice(0)) this.transmit(side, item);
      // One that is gone answers the next ping with a reset.
      if (side.state === 'closed' && peer.state !== 'closed') this.#resetLater(peer);
    }
  }

  /** The peer of a suspended process hears no answer to its pings either. */
  onSuspended(process: Process): void {
    for (const side of this.#sides) {
      if (side.process === process && side.peer) this.#watchPings(side.peer, () => process.isSuspended);
    }
  }

  /** The kernel of its machine closes its sockets; a machine without power says nothing. */
  onDied(process: Process, isSilent: boolean): void {
    for (const side of [...this.#sides]) {
      if (side.process !== process || side.state === 'closed') continue;
      const { peer } = side;
      side.state = 'closed';
      this.#forget(side);
      if (peer === undefined || peer.state === 'closed') continue;
      if (isSilent || side.isCut || this.isBlocked(process.machine, peer.process.machine)) {
        this.#watchPings(peer, () => true);
      } else this.#resetLater(peer);
    }
  }

  #resetLater(side: Side): void {
    const latency = side.random.between(latencyMs.least, latencyMs.most);
    this.#kernel.post(side.process, latency, `reset ${side.path}#${side.link}`, () => this.#closed(side, 'reset'));
  }

  #watchPings(side: Side, isStillSilent: () => boolean): void {
    const noticed = side.random.between(pingMs, 2 * pingMs);
    this.#kernel.post(side.process, noticed, `no pong ${side.path}#${side.link}`, () => {
      if (side.state !== 'closed' && isStillSilent()) this.terminate(side, 'no answer to pings');
    });
  }

  #closed(side: Side, why: string): void {
    if (side.state === 'closed') return;
    side.state = 'closed';
    this.#forget(side);
    side.listener.onClose(why);
  }

  #forget(side: Side): void {
    side.held = [];
    if (side.peer === undefined || side.peer.state === 'closed') {
      this.#sides.delete(side);
      if (side.peer !== undefined) this.#sides.delete(side.peer);
    }
  }

  #connect(
    process: Process,
    serverMachine: string,
    { url }: LinkAddress,
    listener: LinkListener & { onOpen(): void },
  ): Link {
    const path = url.slice(url.lastIndexOf('/') + 1);
    const link = ++this.#links;
    const random = this.#random.fork(`${process.name} ${link}`);
    const client = new Side(this, link, path, process, false, random.fork('client'));
    client.listener = listener;
    this.#sides.add(client);
    const fail = (ms: number, why: string): void => {
      this.#kernel.post(process, ms, `can't connect ${path}#${link}: ${why}`, () => this.#closed(client, why));
    };
    const blocked = this.isBlocked(process.machine, serverMachine) || this.isBlocked(serverMachine, process.machine);
    if (blocked) {
      fail(handshakeMsMax, 'the handshake took too long');
      return client;
    }
    const arrival = random.between(latencyMs.least, latencyMs.most);
    this.#kernel.post(undefined, arrival, 'handshake', () => {
      const { server } = this;
      if (server === undefined || client.state !== 'opening' || !process.isAlive) return fail(1, 'refused');
      this.#kernel.post(server.process, 0, `accept ${path}#${link}`, () => this.#accept(server, client, listener));
      client.handshake = this.#kernel.post(process, handshakeMsMax, `no answer ${path}#${link}`, () =>
        this.#closed(client, 'the handshake took too long'),
      );
    });
    return client;
  }

  #accept(server: Server, client: Side, listener: { onOpen(): void }): void {
    if (client.state !== 'opening' || !client.process.isAlive) return;
    if (client.handshake !== undefined) client.handshake.isCancelled = true;
    const side = new Side(this, client.link, client.path, server.process, true, client.random.fork('server'));
    side.peer = client;
    client.peer = side;
    side.state = 'open';
    this.#sides.add(side);
    side.listener = server.accept(side);
    const { link, path, process } = client;
    this.#kernel.post(process, client.random.between(latencyMs.least, latencyMs.most), `open ${path}#${link}`, () => {
      if (client.state !== 'opening') return;
      client.state = 'open';
      listener.onOpen();
      this.watcher?.onOpened(client);
    });
  }
}
