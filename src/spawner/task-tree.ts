/**
 * What the processes of one task use together: resident memory now, and processor time since its start.
 *
 * Owns: its processes as far as they were seen, with their open files.
 * 1. The time never falls, and counts what a process used once, whether the process lives or has ended: what one that
 *    vanished was counted for is owed by its parent, whose time for children that it waited for will hold all of it.
 * 2. Processes are in an order in which parents come before their children, and are read in this order: what a parent has
 *    waited for by then can't be read again as a process.
 */
import { ProcessLook, type ProcFiles, TICK_MS } from '../platform/node/process-look.ts';
import { pageSizeBytes } from '../platform/node/process-tree.ts';

/** Children of threads other than the first are looked for less often: a process may have hundreds of threads. */
const THREADS_LISTED_MS = 5_000;

type Known = {
  readonly process: ProcessLook;
  /** What was counted of it. */
  ownTicks: number;
  waitedTicks: number;
  /** What was counted of its children and is to come again as time that it waited for. */
  owedTicks: number;
  threadsListedMs: number;
};

export class TaskTree {
  residentBytes = 0;
  cpuMs = 0;
  lookedMs = Number.NEGATIVE_INFINITY;
  private readonly files: ProcFiles;
  private known: Known[] = [];
  private readonly byPid = new Map<number, Known>();

  constructor(files: ProcFiles) {
    this.files = files;
  }

  get size(): number {
    return this.known.length;
  }

  get pids(): readonly number[] {
    return this.known.map(({ process }) => process.pid);
  }

  /** Without those that were in the middle of an exec: they had next to nothing, which says nothing of them. */
  get settledPids(): readonly number[] {
    return this.known.flatMap(({ process }) => (process.isInExec ? [] : [process.pid]));
  }

  /**
   * `roots`: its main process and its orphans, with all below them if the kernel lists no children. With `isExact`, all
   * children are found. Returns whether there are others than before.
   */
  look(roots: readonly number[], nowMs: number, isExact: boolean): boolean {
    this.lookedMs = nowMs;
    const isAnyGone = this.buryGone();
    for (const one of this.known) this.count(one);
    const before = this.known.length;
    for (const pid of roots) this.meet(pid, undefined);
    // It grows on the way.
    for (const one of this.known) this.findChildren(one, nowMs, isExact);
    this.residentBytes = this.known.reduce((pages, { process }) => pages + process.residentPages, 0) * pageSizeBytes();
    return isAnyGone || this.known.length > before;
  }

  /** A process without a parent in the task was waited for by the spawner, and used so much with its children. */
  onReaped(pid: number, cpuMs: number): void {
    const known = this.byPid.get(pid);
    // What it waited for before it ended is in its time.
    this.buryGone(known);
    const countedTicks = known === undefined ? 0 : known.ownTicks + known.waitedTicks + known.owedTicks;
    this.cpuMs += Math.max(0, cpuMs - countedTicks * TICK_MS);
    if (known === undefined) return;
    known.process.close();
    this.byPid.delete(pid);
    this.known = this.known.filter((one) => one !== known);
  }

  close(): void {
    for (const { process } of this.known) process.close();
    this.known = [];
    this.byPid.clear();
  }

  /** Reads all of them, and returns whether any is gone. */
  private buryGone(except?: Known): boolean {
    const gone = this.known.filter((one) => one !== except && !one.process.refresh());
    if (gone.length === 0) return false;
    // Children first: what they are owed goes up with them.
    for (const one of gone.reverse()) this.bury(one);
    this.known = this.known.filter((one) => this.byPid.get(one.process.pid) === one);
    return true;
  }

  private bury({ process, ownTicks, waitedTicks, owedTicks }: Known): void {
    process.close();
    this.byPid.delete(process.pid);
    const parent = this.byPid.get(process.parent);
    if (parent !== undefined) parent.owedTicks += ownTicks + waitedTicks + owedTicks;
  }

  private count(known: Known): void {
    const { ownTicks, waitedTicks } = known.process;
    const rise = Math.max(0, waitedTicks - known.waitedTicks);
    const paid = Math.min(known.owedTicks, rise);
    known.owedTicks -= paid;
    this.cpuMs += (Math.max(0, ownTicks - known.ownTicks) + rise - paid) * TICK_MS;
    known.ownTicks = ownTicks;
    known.waitedTicks = waitedTicks;
  }

  private findChildren(known: Known, nowMs: number, isExact: boolean): void {
    const { process } = known;
    const all = process.threads > 1 && (isExact || nowMs - known.threadsListedMs >= THREADS_LISTED_MS);
    if (all) known.threadsListedMs = nowMs;
    for (const pid of process.children(all)) this.meet(pid, process.pid);
  }

  /** A pid that was listed as a child and has another parent now is another process, or an orphan, and is met as such. */
  private meet(pid: number, parent: number | undefined): void {
    if (this.byPid.has(pid)) return;
    const process = ProcessLook.at(this.files, pid);
    if (process === undefined) return;
    if (parent !== undefined && process.parent !== parent) return process.close();
    const known = { process, ownTicks: 0, waitedTicks: 0, owedTicks: 0, threadsListedMs: Number.NEGATIVE_INFINITY };
    this.byPid.set(pid, known);
    this.known.push(known);
    this.count(known);
  }
}
