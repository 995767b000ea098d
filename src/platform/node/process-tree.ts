/**
 * What /proc says about processes and their descendants, and how to end them. Keeps nothing: each call reads anew,
 * and a process that vanishes between two reads is normal. Where there is no /proc, trees are empty.
 */

import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';

export type ProcessStat = {
  /** `R`, `S`, `D`, `T`, `Z`, … as in proc(5). */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Clock ticks after boot. */
  readonly startTicks: number;
  /** 0 for the dead and for threads of the kernel. */
  readonly virtualBytes: number;
  /** Where its environment lies; the end is 0 in the middle of an exec. */
  readonly environment: { readonly start: number; readonly end: number };
};

export type TreeMemory = {
  readonly rssBytes: number;
  readonly largestPeakBytes: number;
  /**
   * What they take from the machine, at most: their own pages, swapped out or not, and the largest share of shared memory.
   * Pages that a parent and its children share since a fork are counted for each.
   */
  readonly takenBytes: number;
};

/** Time after which a kill that has not emptied the tree gives up: what is left is not killable (state D). */
export const KILL_TREE_MS_MAX = 500;
/** How long to wait for a process that has begun an exec to show its environment. */
const EXEC_MS_MAX = 50;
/** An entry of the auxiliary vector, which is pairs of longs. */
const AT_PAGESZ = 6n;
/** The largest there is: what is far below a limit by this is so by any other. */
const PAGE_BYTES_MAX = 65_536;
const PROC_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** `.`, `..` and the thread. */
const ONE_THREAD_LINKS = 3;
let hasChildrenFiles: boolean | undefined;
let pageBytes: number | undefined;
const pauseCell = new Int32Array(new SharedArrayBuffer(4));
let readBuffer = Buffer.alloc(16 * 1024);

export function readStat(pid: number): ProcessStat | undefined {
  const text = readProc(`/proc/${pid}/stat`)?.toString('latin1');
  if (!text) return undefined;
  // The name in parentheses may itself hold spaces and parentheses, hence the last one.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    state: fields[0] ?? 'X',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTicks: Number(fields[19]),
    virtualBytes: Number(fields[20]),
    environment: { start: Number(fields[47]), end: Number(fields[48]) },
  };
}

/**
 * The value of one variable in the environment that a process was started with. In the middle of an exec nothing, or
 * only a part, can be read: a missing one is missing only when all of the environment was seen, twice at one place.
 */
export function readEnvironmentEntry(pid: number, name: string): string | undefined {
  const deadlineMs = performance.now() + EXEC_MS_MAX;
  for (let seenAt: number | undefined; ; pause()) {
    const environ = readProc(`/proc/${pid}/environ`);
    if (!environ) return undefined;
    const value = entryValue(environ, name);
    if (value !== undefined) return value;
    const { length } = environ;
    const stat = readStat(pid);
    if (!stat || stat.virtualBytes === 0 || performance.now() > deadlineMs) return undefined;
    const { start, end } = stat.environment;
    if (end > 0 && end - start === length && start === seenAt) return undefined;
    seenAt = start;
  }
}

function entryValue(environ: Buffer, name: string): string | undefined {
  const at = entryOffset(environ, `${name}=`);
  if (at < 0) return undefined;
  const end = environ.indexOf(0, at);
  return environ.toString('utf8', at + Buffer.byteLength(name) + 1, end < 0 ? environ.length : end);
}

/** Every process below `root`, parents before their children; not `root` itself. */
export function descendants(root: number): number[] {
  const childrenOf = childrenLookup();
  const found: number[] = [];
  const seen = new Set([root]);
  for (let parent: number | undefined = root, next = 0; parent !== undefined; parent = found[next++]) {
    for (const child of childrenOf(parent)) {
      if (seen.has(child)) continue;
      seen.add(child);
      found.push(child);
    }
  }
  return found;
}

export function readMemory(pids: readonly number[]): TreeMemory {
  let rssBytes = 0;
  let largestPeakBytes = 0;
  let ownBytes = 0;
  let sharedBytes = 0;
  for (const pid of pids) {
    const status = readProc(`/proc/${pid}/status`)?.toString('latin1');
    if (!status) continue;
    rssBytes += kibibytes(status, 'VmRSS:') * 1024;
    largestPeakBytes = Math.max(largestPeakBytes, kibibytes(status, 'VmHWM:') * 1024);
    ownBytes += (kibibytes(status, 'RssAnon:') + kibibytes(status, 'VmSwap:')) * 1024;
    sharedBytes = Math.max(sharedBytes, kibibytes(status, 'RssShmem:') * 1024);
  }
  return { rssBytes, largestPeakBytes, takenBytes: ownBytes + sharedBytes };
}

export function pageSizeBytes(): number {
  pageBytes ??= readPageBytes();
  return pageBytes;
}

function readPageBytes(): number {
  const vector = readProc('/proc/self/auxv') ?? Buffer.alloc(0);
  for (let at = 0; at + 16 <= vector.length; at += 16) {
    if (vector.readBigUInt64LE(at) === AT_PAGESZ) return Number(vector.readBigUInt64LE(at + 8));
  }
  return PAGE_BYTES_MAX;
}

/**
 * What they take with each page counted once, among those who share it. Takes about a millisecond for each gigabyte. Of a
 * process that can't be looked into, nothing.
 */
export function readProportionalMemory(pids: readonly number[]): number {
  let bytes = 0;
  for (const pid of pids) {
    const rollup = readProc(`/proc/${pid}/smaps_rollup`)?.toString('latin1');
    if (!rollup) continue;
    for (const field of ['Pss_Anon:', 'Pss_Shmem:', 'SwapPss:']) bytes += kibibytes(rollup, field) * 1024;
  }
  return bytes;
}

/** false when the process is gone or is not ours to signal. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

export type KillTreeOptions = {
  /** Processes to leave alone, with all that is below them. */
  readonly spare?: ReadonlySet<number>;
  /** Also kill the root. */
  readonly includeRoot?: boolean;
  /** Return once the signals are sent, for a caller that hears of each end by other means. */
  readonly detached?: boolean;
  readonly msMax?: number;
};

/**
 * SIGKILL to everything below `root`. Answers how many processes were found.
 * All are stopped before the first is killed: a stopped parent neither forks nor dies, so no child can slip out of
 * the listing by being born or re-parented meanwhile. Returns when all are dead (zombies are the parent's to reap).
 */
export function killTree(root: number, options: KillTreeOptions = {}): number {
  const deadline = performance.now() + (options.msMax ?? KILL_TREE_MS_MAX);
  const list = (): number[] => livingTree(root, options);
  const found = new Set<number>();
  for (let grew = true; grew && performance.now() < deadline; ) {
    grew = false;
    for (const pid of list()) {
      if (found.has(pid)) continue;
      found.add(pid);
      sendSignal(pid, 'SIGSTOP');
      grew = true;
    }
  }
  for (let left = [...found]; left.length > 0; left = list()) {
    for (const pid of left) {
      found.add(pid);
      sendSignal(pid, 'SIGKILL');
    }
    if (options.detached || performance.now() >= deadline) break;
    pause();
  }
  return found.size;
}

/**
 * SIGKILL to every process of this machine that was started with the given environment entry (`NAME=value`), and to
 * all below it. For what a predecessor that was killed with -9 left behind. Answers how many processes were found.
 */
export function reapTagged(entry: string, options: Pick<KillTreeOptions, 'spare' | 'msMax'> = {}): number {
  const deadline = performance.now() + (options.msMax ?? KILL_TREE_MS_MAX);
  let found = 0;
  // A process in the middle of an exec shows no environment, hence a second look.
  for (let emptyLooks = 0; emptyLooks < 2 && performance.now() < deadline; ) {
    const tagged = allProcesses().filter((pid) => !options.spare?.has(pid) && isTagged(pid, entry));
    for (const pid of tagged) found += killTree(pid, { ...options, includeRoot: true });
    emptyLooks = tagged.length === 0 ? emptyLooks + 1 : 0;
  }
  return found;
}

export function allProcesses(): number[] {
  return listNumbers('/proc');
}

export function isTagged(pid: number, entry: string): boolean {
  if (pid === process.pid) return false;
  const environ = readProc(`/proc/${pid}/environ`);
  if (!environ) return false;
  const at = entryOffset(environ, entry);
  if (at < 0) return false;
  const end = at + Buffer.byteLength(entry);
  return end === environ.length || environ[end] === 0;
}

/** A file below /proc; undefined when the process is gone or not ours to read. Valid until the next call. */
export function readProc(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readAll(fd);
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/** All of an open /proc file from its beginning, into one shared buffer. Valid until the next call. */
export function readAll(fd: number): Buffer {
  for (let length = 0; ; ) {
    if (length === readBuffer.length && length < PROC_FILE_BYTES_MAX) {
      readBuffer = Buffer.concat([readBuffer], length * 2);
    }
    const got = readSync(fd, readBuffer, length, readBuffer.length - length, length);
    length += got;
    if (got === 0 || length >= PROC_FILE_BYTES_MAX) return readBuffer.subarray(0, length);
  }
}

export function parsePids(children: Buffer): number[] {
  const pids: number[] = [];
  let pid = 0;
  for (const byte of children) {
    if (byte >= 48 && byte <= 57) pid = pid * 10 + byte - 48;
    else if (pid > 0) {
      pids.push(pid);
      pid = 0;
    }
  }
  if (pid > 0) pids.push(pid);
  return pids;
}

/** Gives the dying a moment of the processor; callers are synchronous because they are often about to exit. */
function pause(): void {
  Atomics.wait(pauseCell, 0, 0, 1);
}

function livingTree(root: number, options: KillTreeOptions): number[] {
  const spared = new Set(options.spare);
  const living: number[] = [];
  for (const pid of options.includeRoot ? [root, ...descendants(root)] : descendants(root)) {
    const stat = readStat(pid);
    // Parents come first, so the mark travels down from a spared one.
    if (stat && spared.has(stat.parent) && stat.parent !== root) spared.add(pid);
    // Unreadable is not gone: out of descriptors, say, a kill must still reach what it can name.
    const alive = stat ? stat.state !== 'Z' && stat.state !== 'X' : sendSignal(pid, 0);
    if (alive && !spared.has(pid)) living.push(pid);
  }
  return living;
}

function childrenLookup(): (pid: number) => number[] {
  return listsChildren() ? childrenOfThreads : childrenByParent();
}

/** Whether the kernel lists the children of a thread (CONFIG_PROC_CHILDREN). */
export function listsChildren(): boolean {
  hasChildrenFiles ??= existsSync(`/proc/self/task/${process.pid}/children`);
  return hasChildrenFiles;
}

function childrenOfThreads(pid: number): number[] {
  // The link count is much cheaper than the list, and most processes have one thread.
  if (linkCount(`/proc/${pid}/task`) === ONE_THREAD_LINKS) return childrenOfThread(pid, pid);
  return listNumbers(`/proc/${pid}/task`).flatMap((thread) => childrenOfThread(pid, thread));
}

function linkCount(path: string): number {
  try {
    return statSync(path).nlink;
  } catch {
    return 0;
  }
}

function childrenOfThread(pid: number, thread: number): number[] {
  const children = readProc(`/proc/${pid}/task/${thread}/children`);
  return children ? parsePids(children) : [];
}

/** For kernels built without CONFIG_PROC_CHILDREN: one pass over all processes. */
export function childrenByParent(): (pid: number) => number[] {
  const byParent = new Map<number, number[]>();
  for (const pid of allProcesses()) {
    const parent = readStat(pid)?.parent;
    if (parent === undefined) continue;
    const siblings = byParent.get(parent);
    if (siblings) siblings.push(pid);
    else byParent.set(parent, [pid]);
  }
  return (pid) => byParent.get(pid) ?? [];
}

function listNumbers(directory: string): number[] {
  try {
    return readdirSync(directory).map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Where an entry that begins with `prefix` starts in a NUL-separated list, or -1. */
function entryOffset(environ: Buffer, prefix: string): number {
  if (environ.indexOf(prefix) === 0) return 0;
  const at = environ.indexOf(`\0${prefix}`);
  return at < 0 ? -1 : at + 1;
}

function kibibytes(status: string, field: string): number {
  const at = status.indexOf(field);
  return at < 0 ? 0 : Number.parseInt(status.slice(at + field.length, at + field.length + 24), 10);
}
