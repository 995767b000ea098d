/**
 * The world as the shells see it. `node/` is the real one; the simulator has another, with the same interfaces, in
 * which time, sockets, processes and disks do what its seed says.
 */

export interface Clock {
  /**
   * Ms since the epoch as this process counts them: read once from the wall, then carried on by a clock that never
   * jumps and counts suspend. A wall clock that is set while we run moves nothing here.
   */
  now(): number;
  /** Calls back once at that time, or soon after. */
  at(time: number, callback: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** One end of a connection that carries whole texts in order. */
export interface Link {
  /** Returns false when the peer does not take what it is sent, and the link was dropped for it. */
  send(text: string): boolean;
  close(why: string): void;
  /** While it is held the peer has to wait with what it sends; a few texts may still come. */
  hold?(isHeld: boolean): void;
}

/** One for streams: what it is given waits until the peer takes it. */
export interface PacedLink extends Link {
  /** Sends, and resolves when all that was sent is on its way, or can't be any more. */
  pass(text: string): Promise<void>;
}

export interface LinkListener {
  onText(text: string): void;
  /** Once, and nothing after it. */
  onClose(why: string): void;
}

export interface Net {
  /** The listener hears of a failure to connect as a close. `onOpen` comes first otherwise. */
  connect(address: LinkAddress, listener: LinkListener & { onOpen(): void }): Link;
}

export interface LinkAddress {
  readonly url: string;
  readonly token: string;
  /** The one that the peer must show, off loopback. */
  readonly certificate?: string;
}

export interface Log {
  /** Costs next to nothing where nobody wants it. */
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** How late the event loop was with what it had to do, in ms, over the last `overMs`. */
export interface LoopDelay {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly overMs: number;
}

export interface LoopMeter {
  /** Over the last minute or two, or since `restart`. */
  read(): LoopDelay;
  restart(): void;
  stop(): void;
}

/** A place in a text: its first character, and the one behind its last. */
export type Span = readonly [from: number, to: number];

/** A regular expression that can't take longer than it is given, whatever it is and whatever it is looked for in. */
export interface Pattern {
  /** For each of the texts, where it is found, up to so many places; throws `pattern-too-slow` after that time. */
  find(texts: readonly string[], spansMax: number, msMax: number): readonly (readonly Span[])[];
}

/** Throws `bad-input` for what is no expression. */
export type CompilePattern = (source: string, ignoresCase: boolean) => Pattern;

/** Posts to addresses that others chose. Follows no redirection, reads nothing of the answer but its status. */
export interface Webhooks {
  /** Never throws. An address that must not be reached is an error like any other. */
  post(call: WebhookCall): Promise<{ readonly status: number } | { readonly error: string }>;
}

export interface WebhookCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly msMax: number;
}

/** How much of one GPU is in use, from 0 to 1. */
export interface GpuReading {
  /** By which programs may know it. */
  readonly index: string;
  readonly uuid: string;
  readonly use: number;
}
