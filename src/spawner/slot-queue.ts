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
};

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
    const occupant = 'key' in message ? this.occupants.get(message.key) : undefined;
    if (occupant === undefined) return this.options.send(message);
    switch (message.t) {
      case 'started':
        this.untold.set(message.key, message);
        return this.options.wake();
      case 'ended':
        this.options.send(this.withFiles(message, occupant));
        return this.leave(message.key, occupant.slot);
      case 'failed':
        this.options.send(message);
        return this.leave(message.key, occupant.slot);
      default:
        return this.options.send(message);
    }
  }

  /** Of those that run on. */
  takeStarts(): readonly FromSpawner[] {
    const starts = [...this.untold.values()];
    this.untold.clear();
    return starts;
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

  private start({ files, beside, t: _, ...task }: QueueTask, slot = this.slots.take()): void {
    const own = files ?? this.slots.filesOf(slot);
    const scratch = this.slots.scratchOf(slot);
    const mode = files === undefined ? 'reuse' : 'truncate';
    this.occupants.set(task.key, { slot, files: own, isOurs: files === undefined });
    const start: StartTask = {
      ...task,
      t: 'start',
      vars: [...task.vars, `DROVER_SLOT=${this.slots.numberOf(slot)}`, `DROVER_TASK_DIR=${scratch}`],
      stdout: { path: own.stdout, mode },
      stderr: { path: own.stderr, mode },
      scratch,
    };
    this.options.pass(beside?.memoryBytes === undefined ? start : { ...start, memoryBytes: beside.memoryBytes });
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
