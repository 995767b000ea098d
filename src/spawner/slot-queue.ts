/**
 * Tasks that wait for a slot. The worker sends more of them than there are slots, so that a slot that becomes free is
 * filled at once, without a word between the two; and while enough of them wait, reports may wait for others to join.
 *
 * Owns: the queue, the slots, and which task has which. How tasks live is the spawner's.
 * 1. Tasks start in the order in which they came; one that was dropped never starts. One beside the slots starts at once.
 * 2. A slot is given back when nothing of its task is left.
 */
import { outputTailBytesMax } from '../model/limits.ts';
import type { FromSpawner, OutputFiles, QueueTask, StartTask, TaskEnded, ToSpawner } from '../protocol/spawner.ts';
import { Slots } from './slots.ts';

export type SlotQueueOptions = {
  /** To the spawner. */
  readonly pass: (message: ToSpawner) => void;
  readonly forgetFile: (path: string) => void;
  /** To the worker. */
  readonly send: (message: FromSpawner) => void;
  /** There is a start to tell of, in a moment. */
  readonly wake: () => void;
  /** The time that starts have; at the end of all time, each is told of at once. */
  readonly now: () => number;
};

/** Programs that are over by then are the ones that there are many of. */
const START_UNTOLD_MS = 60;

type Started = Extract<FromSpawner, { readonly t: 'started' }>;

/** A task in its slot. */
type Occupant = {
  readonly slot: number;
  readonly files: OutputFiles;
  readonly isOurs: boolean;
};

export class SlotQueue {
  private readonly options: SlotQueueOptions;
  private readonly slots = new Slots();
  /** In the order in which they came. */
  private readonly waiting = new Map<number, QueueTask>();
  private readonly occupants = new Map<number, Occupant>();
  /** Started, and not told of: many have ended before it is time to tell. */
  private readonly untold = new Map<number, Started>();

  private isFilling = false;

  constructor(options: SlotQueueOptions) {
    this.options = options;
  }

  /** Whether slots will be filled for a while although the worker hears nothing. */
  get isWellFed(): boolean {
    return this.waiting.size > this.slots.count;
  }

  get slotCount(): number {
    return this.slots.count;
  }

  handle(message: ToSpawner): void {
    switch (message.t) {
      case 'slots':
        this.slots.resize(message.count, message.directory, message.of);
        return this.fill();
      case 'queue':
        if (message.beside !== undefined) return this.start(message, this.slots.takeBeside());
        this.waiting.set(message.key, message);
        return this.fill();
      case 'drop':
        return void this.drop(message.key);
      case 'kill':
        if (!this.drop(message.key)) this.options.pass(message);
        return;
      case 'stop':
        for (const key of [...this.waiting.keys()]) this.drop(key);
        return this.options.pass(message);
      default:
        return this.options.pass(message);
    }
  }

  /** What the spawner says. */
  onMessage(message: FromSpawner): void {
    const { t } = message;
    if (t !== 'started' && t !== 'ended' && t !== 'failed') return this.options.send(message);
    const occupant = this.occupants.get(message.key);
    if (occupant === undefined) return this.options.send(message);
    if (t === 'started') {
      this.untold.set(message.key, message);
      return this.options.wake();
    }
    this.options.send(t === 'ended' ? this.withFiles(message, occupant) : message);
    this.leave(message.key, occupant.slot);
  }

  /** Of those that run on. Where the worker has others to think of, one that will soon have ended is not worth telling. */
  takeStarts(): readonly FromSpawner[] {
    const before = this.isWellFed ? this.options.now() - START_UNTOLD_MS : Number.POSITIVE_INFINITY;
    const starts: Started[] = [];
    for (const start of this.untold.values()) {
      if (start.at > before) break;
      starts.push(start);
      this.untold.delete(start.key);
    }
    return starts;
  }

  /** Whether a start will have to be told of, even if nothing else happens. */
  get hasUntold(): boolean {
    return this.untold.size > 0;
  }

  /** A start that fails frees its slot at once: the loop goes on with the next. */
  private fill(): void {
    if (this.isFilling) return;
    this.isFilling = true;
    while (this.slots.hasFree && this.waiting.size > 0) {
      const [[key, task]] = this.waiting as Iterable<[number, QueueTask]> as [[number, QueueTask]];
      this.waiting.delete(key);
      this.start(task);
    }
    this.isFilling = false;
  }

  private start(task: QueueTask, slot = this.slots.take()): void {
    const { key, env, vars, command, shell, cwd, stdin, files, beside } = task;
    const { files: own, scratch, variables } = this.slots.furnishingOf(slot);
    const { stdout, stderr } = files ?? own;
    const mode = files === undefined ? 'reuse' : 'truncate';
    this.occupants.set(key, { slot, files: files ?? own, isOurs: files === undefined });
    const start: StartTask = {
      t: 'start',
      key,
      env,
      vars: vars.concat(variables),
      command,
      shell,
      cwd,
      stdout: { path: stdout, mode },
      stderr: { path: stderr, mode },
      scratch,
    };
    const memoryBytes = beside?.memoryBytes;
    const limited = memoryBytes === undefined ? start : { ...start, memoryBytes };
    this.options.pass(stdin === undefined ? limited : { ...limited, stdin });
  }

  private leave(key: number, slot: number): void {
    this.occupants.delete(key);
    this.untold.delete(key);
    this.slots.give(slot);
    this.fill();
  }

  private drop(key: number): boolean {
    if (!this.waiting.delete(key)) return false;
    this.options.send({ t: 'dropped', key });
    return true;
  }

  private withFiles(ended: TaskEnded, { slot, files, isOurs }: Occupant): TaskEnded {
    if (ended.out.bytes <= outputTailBytesMax && ended.err.bytes <= outputTailBytesMax) return ended;
    if (isOurs) {
      this.slots.setAside(slot);
      this.options.forgetFile(files.stdout);
      this.options.forgetFile(files.stderr);
    }
    return { ...ended, files };
  }
}
