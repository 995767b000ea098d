/**
 * One process, looked at again and again: what it uses, and its children. By descriptors that stay open, as long as there
 * are plenty: to open a file below /proc costs several times what it costs to read it.
 * 1. A look is always at the same process. A descriptor is of one process for good, and reads fail when that is gone
 *    (ESRCH), whoever has its pid then; where none is kept, the time of the start tells.
 */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { descriptorLimit } from './descriptors.ts';
import type { Libc } from './libc.ts';
import { parsePids, readAll } from './process-tree.ts';

/** The kernel counts for others in ticks of this length, whatever its own are. */
export const TICK_MS = 10;
const NONE = -1;
/** Enough for the fields up to the start of the code, whatever the numbers are. */
const STAT_BYTES = 1_024;
/** In the middle of an exec a process has its arguments, and no more. */
const EXEC_PAGES_MAX = 64;
/** A read of a list that brought less than half a page came to its end: see kin.ts. */
const LIST_BYTES = 2_048;
const KEPT_SHARE = 1 / 4;
/** In `stat` the name may be of any characters, in parentheses, and is no longer than this. */
const NAME_BYTES_MAX = 64;
const [BLANK, OPEN, CLOSE, ZERO, NINE] = [32, 40, 41, 48, 57];

/** Reads files below /proc into one buffer, which is valid until the next read. */
export class ProcFiles {
  readonly bytes = Buffer.from(new ArrayBuffer(Math.max(STAT_BYTES, LIST_BYTES)));
  private readonly libc: Libc | undefined;
  private readonly address: number;
  private readonly limit = descriptorLimit();
  private readonly needed: () => number;

  /** `needed`: descriptors that are for others. */
  constructor(libc: Libc | undefined, needed: () => number) {
    this.libc = libc;
    this.needed = needed;
    this.address = libc?.addressOf(this.bytes) ?? 0;
  }

  /** A descriptor, or -1. */
  open(path: string): number {
    try {
      return openSync(path, 'r');
    } catch {
      return NONE;
    }
  }

  /** The kernel gives the lowest free number, so a higher one means that few are left. */
  mayKeep(fd: number): boolean {
    return fd <= Math.min(this.limit * KEPT_SHARE, this.limit - this.needed());
  }

  /** How many bytes are there, up to so many; -1 when the process is gone. */
  read(fd: number, length: number): number {
    if (this.libc) return this.libc.readAt(fd, this.address, length, 0);
    try {
      return readSync(fd, this.bytes, 0, length, 0);
    } catch {
      return NONE;
    }
  }
}

export class ProcessLook {
  readonly pid: number;
  parent = 0;
  /** Ticks of its own, and those of children that have ended and were waited for. */
  ownTicks = 0;
  waitedTicks = 0;
  residentPages = 0;
  /** It has left its program, or the spawner's, and does not have the memory of the next one yet. */
  isInExec = false;
  threads = 1;
  private startTicks = 0;
  private readonly files: ProcFiles;
  private stat = NONE;
  private list = NONE;

  private constructor(files: ProcFiles, pid: number) {
    this.files = files;
    this.pid = pid;
  }

  /** undefined when there is none. */
  static at(files: ProcFiles, pid: number): ProcessLook | undefined {
    const look = new ProcessLook(files, pid);
    if (look.refresh()) return look;
    look.close();
    return undefined;
  }

  /** Whether it is still there. The dead are, with their times, until somebody has waited for them. */
  refresh(): boolean {
    const { files } = this;
    const fd = this.stat === NONE ? files.open(`/proc/${this.pid}/stat`) : this.stat;
    if (fd === NONE) return false;
    const length = files.read(fd, STAT_BYTES);
    if (files.mayKeep(fd)) this.stat = fd;
    else closeSync(fd);
    return length > 0 && this.parse(length);
  }

  /** Of its main thread; with `all`, of its other threads as well, of which each costs as much. */
  children(all: boolean): readonly number[] {
    const pids = this.childrenOfMain();
    if (this.threads <= 1 || !all) return pids;
    return [...pids, ...this.otherThreads().flatMap((thread) => this.childrenOf(thread))];
  }

  close(): void {
    for (const fd of [this.stat, this.list]) if (fd !== NONE) closeSync(fd);
    this.stat = NONE;
    this.list = NONE;
  }

  /** The fields of proc(5), without a text or a list of them. */
  private parse(length: number): boolean {
    const { bytes } = this.files;
    let at = bytes.indexOf(OPEN) + NAME_BYTES_MAX;
    while (at > 0 && bytes[at] !== CLOSE) at--;
    at = this.skip(at, 2);
    this.parent = this.number(at);
    at = this.skip(at, 10);
    const user = this.number(at);
    at = this.skip(at, 1);
    const system = this.number(at);
    at = this.skip(at, 1);
    const waitedUser = this.number(at);
    at = this.skip(at, 1);
    const waitedSystem = this.number(at);
    at = this.skip(at, 3);
    const threads = this.number(at);
    at = this.skip(at, 2);
    const startTicks = this.number(at);
    if (this.startTicks !== 0 && startTicks !== this.startTicks) return false;
    const virtualAt = this.skip(at, 1);
    at = this.skip(virtualAt, 1);
    if (at >= length) return false;
    const residentPages = this.number(at);
    // The dead have no memory at all; where the code is, if that may not be told, is 1.
    this.isInExec = residentPages < EXEC_PAGES_MAX && this.number(virtualAt) > 0 && this.number(this.skip(at, 2)) === 0;
    this.startTicks = startTicks;
    this.ownTicks = user + system;
    this.waitedTicks = waitedUser + waitedSystem;
    this.threads = threads;
    this.residentPages = this.isInExec ? 0 : residentPages;
    return true;
  }

  /** Where the field begins that is so many further on. */
  private skip(at: number, fields: number): number {
    const { bytes } = this.files;
    let left = fields;
    let next = at;
    while (left > 0 && next < STAT_BYTES) if (bytes[next++] === BLANK) left--;
    return next;
  }

  private number(at: number): number {
    const { bytes } = this.files;
    let number = 0;
    for (let next = at; ; next++) {
      const digit = bytes[next] ?? 0;
      if (digit < ZERO || digit > NINE) return number;
      number = number * 10 + digit - ZERO;
    }
  }

  private childrenOfMain(): readonly number[] {
    const { files, pid } = this;
    const fd = this.list === NONE ? files.open(`/proc/${pid}/task/${pid}/children`) : this.list;
    if (fd === NONE) return NOBODY;
    try {
      return this.listIn(fd);
    } finally {
      if (files.mayKeep(fd)) this.list = fd;
      else closeSync(fd);
    }
  }

  private childrenOf(thread: number): readonly number[] {
    const fd = this.files.open(`/proc/${this.pid}/task/${thread}/children`);
    if (fd === NONE) return NOBODY;
    try {
      return this.listIn(fd);
    } finally {
      closeSync(fd);
    }
  }

  private listIn(fd: number): readonly number[] {
    const { files } = this;
    const length = files.read(fd, LIST_BYTES);
    if (length <= 0) return NOBODY;
    try {
      return parsePids(length < LIST_BYTES ? files.bytes.subarray(0, length) : readAll(fd));
    } catch {
      return NOBODY;
    }
  }

  private otherThreads(): number[] {
    try {
      return readdirSync(`/proc/${this.pid}/task`)
        .map(Number)
        .filter((thread) => thread !== this.pid);
    } catch {
      return [];
    }
  }
}

const NOBODY: readonly number[] = [];
