/**
 * The cgroup of one task. Owns its directory.
 * 1. All processes of the task are born in it: the spawner enters it, starts the first of them, and leaves.
 * 2. The limit is set when the spawner has left: the kernel must not choose the spawner when there is none left.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type CgroupPlace,
  type CgroupVersion,
  findMemoryCgroups,
  processesFile,
  removeCgroup,
} from './memory-cgroup.ts';
import { readProc } from './process-tree.ts';

interface Files {
  readonly limit: string;
  /** What it may swap out counts as used, or there is none. */
  readonly swap: readonly [name: string, value: (limit: number) => number];
  readonly peak: string;
  /** Has lines `oom_kill COUNT`: processes of it that were killed by whatever OOM killer. */
  readonly kills: string;
  /** Kills all of its processes instead of one. */
  readonly group?: string;
}

const filesOf: Readonly<Record<CgroupVersion, Files>> = {
  1: {
    limit: 'memory.limit_in_bytes',
    swap: ['memory.memsw.limit_in_bytes', (limit) => limit],
    peak: 'memory.max_usage_in_bytes',
    kills: 'memory.oom_control',
  },
  2: {
    limit: 'memory.max',
    swap: ['memory.swap.max', () => 0],
    peak: 'memory.peak',
    kills: 'memory.events',
    group: 'memory.oom.group',
  },
};

/** The kernel takes memory by pages, some of which are large. */
const REACHED = 0.97;
/** More than this process has. */
const TRIAL_BYTES = 2 ** 40;

/** Where a spawner makes the cgroups of its tasks, and to where it returns. */
export class TaskCgroups {
  readonly #place: CgroupPlace;
  readonly #home: string;

  private constructor(place: CgroupPlace, home: string) {
    this.#place = place;
    this.#home = home;
  }

  /** After a trial; what an earlier spawner of the worker has left there goes. */
  static open(place: CgroupPlace): TaskCgroups | undefined {
    try {
      const mine = findMemoryCgroups(
        readFileSync('/proc/self/mountinfo', 'utf8'),
        readFileSync('/proc/self/cgroup', 'utf8'),
      );
      const home = mine.find(({ version }) => version === place.version)?.path;
      if (home === undefined) return undefined;
      for (const name of readdirSync(place.path)) if (/^\d+$/.test(name)) removeCgroup(join(place.path, name));
      const opened = new TaskCgroups(place, home);
      const trial = opened.make(`trial-${process.pid}`);
      trial?.around(() => {});
      const isUsable = trial?.limit(TRIAL_BYTES) === true;
      return trial?.remove() && isUsable ? opened : undefined;
    } catch {
      return undefined;
    }
  }

  /** undefined when there can't be one more. */
  make(name: string): TaskCgroup | undefined {
    const path = join(this.#place.path, name);
    try {
      mkdirSync(path);
      return new TaskCgroup(path, this.#home, this.#place.version);
    } catch {
      return undefined;
    }
  }
}

export class TaskCgroup {
  readonly #path: string;
  readonly #home: string;
  readonly #version: CgroupVersion;
  readonly #files: Files;
  #limitBytes = Number.POSITIVE_INFINITY;

  constructor(path: string, home: string, version: CgroupVersion) {
    this.#path = path;
    this.#home = home;
    this.#version = version;
    this.#files = filesOf[version];
  }

  /** What is started meanwhile is born here. Throws when the spawner can't get back. */
  around<T>(start: () => T): T {
    const pid = String(process.pid);
    writeFileSync(join(this.#path, processesFile), pid);
    try {
      return start();
    } finally {
      writeFileSync(join(this.#home, processesFile), pid);
    }
  }

  /** Returns whether it holds: the task may have grown beyond it already. */
  limit(bytes: number): boolean {
    const { limit, swap, group } = this.#files;
    const isSet = this.#write(limit, bytes);
    this.#limitBytes = isSet ? bytes : 0;
    this.#write(swap[0], swap[1](bytes));
    if (group !== undefined) this.#write(group, 1);
    return isSet;
  }

  /** Processes of it that the kernel has killed for want of memory. */
  get kills(): number {
    return this.#number(this.#files.kills, 'oom_kill');
  }

  /** Whether a process of it was killed: because the limit was reached, or because the machine had no memory left. */
  get killed(): 'task' | 'machine' | undefined {
    if (this.kills === 0) return undefined;
    return this.#wasLimitReached() ? 'task' : 'machine';
  }

  /**
   * The most that it used at a time. The kernel counts files that it keeps in memory for the task, and takes them away when
   * there is need: those that are still there are not counted.
   */
  get peakBytes(): number {
    const total = this.#version === 1 ? 'total_' : '';
    const files = this.#number('memory.stat', this.#version === 1 ? 'total_cache' : 'file');
    const shared = this.#number('memory.stat', `${total}shmem`);
    return Math.max(0, this.#number(this.#files.peak) - Math.max(0, files - shared));
  }

  /** Returns whether it is gone: not as long as something is in it. */
  remove(): boolean {
    return removeCgroup(this.#path);
  }

  #wasLimitReached(): boolean {
    if (this.#version === 2) return this.#number('memory.events', 'oom') > 0;
    // Its count of failures is always 0 on newer kernels.
    return this.#number(this.#files.peak) >= this.#limitBytes * REACHED;
  }

  /** Of a file, or of a line of it; 0 where there is none. */
  #number(file: string, field?: string): number {
    const text = readProc(`${this.#path}/${file}`)?.toString('latin1') ?? '';
    if (field === undefined) return Number(text) || 0;
    const line = `\n${field} `;
    const at = `\n${text}`.indexOf(line);
    return at < 0 ? 0 : Number.parseInt(text.slice(at + line.length - 1), 10);
  }

  #write(file: string, value: number): boolean {
    try {
      writeFileSync(join(this.#path, file), String(value));
      return true;
    } catch {
      return false;
    }
  }
}
