/**
 * Pumps inputs into the worker's reactor and performs its effects: links to the controller, the spawner, files.
 * It has no opinion on attempts: no `if` here is about their state.
 */
import { DroverError } from '../model/errors.ts';
import { linkBacklogBytesMax, reconnectMs } from '../model/limits.ts';
import type { Clock, GpuReading, Link, LinkAddress, Log, Net, Timer } from '../platform/env.ts';
import type { FromSpawner, ToSpawner } from '../protocol/spawner.ts';
import {
  controlPath,
  decodeToWorker,
  encodeFrames,
  type FromWorker,
  outputPath,
  type ToWorker,
} from '../protocol/worker.ts';
import type { Effect, Input, WorkerEnd } from './messages.ts';
import { Worker, type WorkerStart } from './reactor.ts';

/** The spawner as the shell uses it. */
export interface SpawnerHandle {
  send(messages: readonly ToSpawner[]): void;
  /** At once, with all that it runs. */
  kill(): void;
}

export interface SpawnerListener {
  onMessages(messages: readonly FromSpawner[]): void;
  /** It is dead, and everything it had started was killed. The next `startSpawner` begins anew. */
  onGone(): void;
}

/** Files of output, read synchronously: they are small reads of what was just written. */
export interface OutputFiles {
  size(path: string): number;
  read(path: string, position: number, length: number): Uint8Array;
  remove(path: string): void;
  makeDirectory(path: string): void;
}

export interface WorkerWorld {
  readonly clock: Clock;
  readonly net: Net;
  readonly log: Log;
  readonly files: OutputFiles;
  /** Between 0 and 1. */
  random(): number;
  /** Read anew before each connection: a controller that comes back has another address. */
  address(): LinkAddress | undefined;
  startSpawner(listener: SpawnerListener): SpawnerHandle;
  /** Tells how busy GPUs are, again and again, until what it returns is called; absent where nobody can. */
  watchGpus?(onReadings: (readings: readonly GpuReading[]) => void): () => void;
  /** The connection came, or could not be made, or was lost. */
  onConnection(connection: Connection): void;
  /** Ends the spawner and everything below this process; says goodbye when all of it is dead. The shell is over then. */
  exit(exit: { readonly end: WorkerEnd; readonly why: string; readonly graceMs: number }, sayGoodbye: () => void): void;
}

export type Connection =
  | { readonly state: 'open'; readonly url: string }
  | { readonly state: 'away'; readonly why: string; readonly retryMs: number };

export class WorkerShell {
  readonly #world: WorkerWorld;
  readonly #worker: Worker;
  readonly #start: WorkerStart;
  #spawner: SpawnerHandle;
  #control: Link | undefined;
  #output: Link | undefined;
  #timer: Timer | undefined;
  #stopGpus: (() => void) | undefined;
  #inputs: Input[] = [];
  #isPumping = false;
  #failures = 0;
  #isOver = false;

  constructor(world: WorkerWorld, start: WorkerStart) {
    this.#world = world;
    this.#start = start;
    this.#worker = new Worker(start);
    this.#spawner = this.#startSpawner();
    this.#connect();
    this.#arm();
  }

  /** For whoever looks on. */
  get worker(): Worker {
    return this.#worker;
  }

  stop(): void {
    this.#feed({ type: 'stop' });
  }

  #startSpawner(): SpawnerHandle {
    return this.#world.startSpawner({
      onMessages: (messages) => {
        for (const message of messages) this.#inputs.push({ type: 'spawner', message });
        this.#pump();
      },
      onGone: () => {
        if (this.#isOver) return;
        this.#world.log.warn({}, 'the spawner died; what it ran was killed');
        this.#spawner = this.#startSpawner();
        this.#feed({ type: 'spawner-gone' });
      },
    });
  }

  #connect(): void {
    if (this.#isOver) return;
    const address = this.#world.address();
    if (address === undefined) return this.#reconnect('there is no access file');
    const link = this.#world.net.connect(at(address, controlPath), {
      onOpen: () => {
        this.#failures = 0;
        this.#control = link;
        this.#world.log.info({ url: address.url }, 'connected to the controller');
        this.#world.onConnection({ state: 'open', url: address.url });
        this.#feed({ type: 'connected' });
        this.#connectOutput(address, link);
      },
      onText: (text) => this.#onText(link, text),
      onClose: (why) => {
        const wasConnected = this.#control === link;
        if (wasConnected) this.#control = undefined;
        this.#output?.close('the control link is closed');
        if (wasConnected) this.#feed({ type: 'disconnected' });
        this.#reconnect(why);
      },
    });
  }

  #connectOutput(address: LinkAddress, control: Link): void {
    const link = this.#world.net.connect(at(address, outputPath), {
      onOpen: () => {
        this.#output = link;
        send(link, { t: 'output-hello', instance: this.#start.identity.instance });
      },
      onText: (text) => this.#onText(link, text),
      onClose: () => {
        if (this.#output === link) this.#output = undefined;
        // With the control link it comes back by itself; alone, it is opened again.
        this.#world.clock.at(this.#world.clock.now() + reconnectMs.max, () => {
          if (this.#control === control && !this.#isOver) this.#connectOutput(address, control);
        });
      },
    });
  }

  /** First tries follow each other quickly; then with jitter, so that a thousand workers don't come back at once. */
  #reconnect(why: string): void {
    if (this.#isOver) return;
    const full = Math.min(reconnectMs.max, reconnectMs.first * 2 ** Math.min(this.#failures, 20));
    this.#failures++;
    const delay = full * (0.5 + this.#world.random() / 2);
    this.#world.log.info({ why, delayMs: Math.round(delay) }, 'no connection to the controller; trying again');
    this.#world.onConnection({ state: 'away', why, retryMs: delay });
    this.#world.clock.at(this.#world.clock.now() + delay, () => this.#connect());
  }

  #onText(link: Link, text: string): void {
    try {
      for (const message of decodeToWorker(text) as ToWorker[]) this.#inputs.push({ type: 'message', message });
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      this.#world.log.error({ code: error.code }, error.message);
      link.close('malformed frame');
    }
    this.#pump();
  }

  #feed(input: Input): void {
    this.#inputs.push(input);
    this.#pump();
  }

  #pump(): void {
    if (this.#isPumping || this.#isOver) return;
    this.#isPumping = true;
    try {
      while (this.#inputs.length > 0) {
        const inputs = this.#inputs;
        this.#inputs = [];
        this.#perform(this.#worker.step(inputs, this.#world.clock.now()));
      }
    } finally {
      this.#isPumping = false;
    }
    this.#arm();
  }

  #arm(): void {
    this.#timer?.cancel();
    const next = this.#worker.nextDeadline(this.#world.clock.now());
    if (this.#isOver || next === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#world.clock.at(next, () => this.#feed({ type: 'tick' }));
  }

  #perform(effects: readonly Effect[]): void {
    const toController: FromWorker[] = [];
    const toSpawner: ToSpawner[] = [];
    for (const effect of effects) {
      switch (effect.type) {
        case 'send':
          toController.push(effect.message);
          break;
        case 'spawner':
          toSpawner.push(effect.message);
          break;
        case 'make-directory':
          this.#world.files.makeDirectory(effect.path);
          break;
        case 'remove-files':
          for (const path of effect.paths) this.#world.files.remove(path);
          break;
        case 'fetch':
          this.#fetch(effect);
          break;
        case 'watch-gpus':
          this.#watchGpus(effect.isOn);
          break;
        case 'kill-spawner':
          this.#world.log.error({}, 'the spawner does not answer; it is killed with all that it runs');
          this.#spawner.kill();
          break;
        case 'exit':
          this.#isOver = true;
          this.#watchGpus(false);
          this.#world.log.info({ end: effect.end, why: effect.why }, 'the worker ends');
          this.#world.exit(effect, () => this.#sayGoodbye());
      }
    }
    if (toSpawner.length > 0) this.#spawner.send(toSpawner);
    for (const frame of encodeFrames(toController)) this.#control?.send(frame);
  }

  #watchGpus(isOn: boolean): void {
    this.#stopGpus?.();
    this.#stopGpus = isOn ? this.#world.watchGpus?.((readings) => this.#feed({ type: 'gpus', readings })) : undefined;
  }

  #sayGoodbye(): void {
    const { instance } = this.#start.identity;
    if (this.#control !== undefined) send(this.#control, { t: 'goodbye', instance });
    this.#control?.close('the worker ends');
    this.#output?.close('the worker ends');
  }

  #fetch({ request, place, offset, limit }: Extract<Effect, { type: 'fetch' }>): void {
    const answer = (data: Uint8Array, bytes: number, isOpen: boolean): void => {
      if (this.#output === undefined) return;
      send(this.#output, { t: 'output', request, data: Buffer.from(data).toString('base64'), bytes, isOpen });
    };
    if (place === undefined) {
      if (this.#output) send(this.#output, { t: 'output', request, data: '', bytes: 0, isOpen: false, isGone: true });
      return;
    }
    const bytes = place.bytes ?? this.#world.files.size(place.path);
    const length = Math.max(0, Math.min(limit, bytes - offset, linkBacklogBytesMax));
    const data = length === 0 ? new Uint8Array() : this.#world.files.read(place.path, offset, length);
    answer(data, bytes, place.bytes === undefined);
  }
}

const at = (address: LinkAddress, path: string): LinkAddress => ({
  ...address,
  url: address.url.replace(/^http/, 'ws') + path,
});

function send(link: Link, message: FromWorker): void {
  for (const frame of encodeFrames([message])) link.send(frame);
}
