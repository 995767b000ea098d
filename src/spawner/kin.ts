/**
 * Which processes belong to which task, on a machine where this process adopts orphans (PR_SET_CHILD_SUBREAPER).
 *
 * Owns the attribution of orphans. Does not own tasks, nor decide when to kill. Invariants:
 *  1. when a main process has been reaped, all that is left of its task is below children of this process: the
 *     kernel re-parents before it lets a death be seen. So one read of the own children file tells whether any is left;
 *  2. every child of this process that is not the main process of a task is an orphan of one task or a stray;
 *  3. a stray has at least two candidates, tasks that ran when it appeared and had started before it; the last
 *     candidate to remain gets it as an orphan, so it never outlives them all.
 */

import { openSync } from 'node:fs';
import type { Libc } from '../platform/node/libc.ts';
import {
  descendants,
  killTree,
  listsChildren,
  parsePids,
  readAll,
  readEnvironmentEntry,
  readStat,
  sendSignal,
} from '../platform/node/process-tree.ts';
import { SPAWN_KEY_VARIABLE } from '../protocol/spawner.ts';

export type Member = {
  readonly key: number;
  readonly pid: number;
  /** Whether the main process has been reaped. */
  readonly mainEnded: boolean;
};

export type Kin = {
  /** A main process runs. */
  enrol(member: Member): void;
  /** A main process has been reaped; `mainEnded` is true from now on. */
  onMainEnded(member: Member): void;
  /** A task has ended. */
  release(member: Member): void;
  /** A process that is no main process has been reaped; answers whose it was, as far as that is known. */
  onReaped(pid: number): Member | undefined;
  /** Looks for orphans; answers the tasks that have new ones. */
  refresh(): readonly Member[];
  /** Whether anything but the main process is left. */
  hasLeftovers(member: Member): boolean;
  /** Every process of the task that is known without a search through the whole machine, parents first. */
  processes(member: Member): number[];
  /** Its main process and its orphans; all of its processes, where children can't be listed one process at a time. */
  roots(member: Member): readonly number[];
  /** These are its processes now: if one becomes an orphan, it is known for what it is. */
  see(member: Member, pids: readonly number[]): void;
  terminate(member: Member): void;
  /** SIGTERM to processes that may be of any of several tasks, when all of those end. */
  terminateStrays(): void;
  kill(member: Member): void;
  /** Kills everything below this process and waits for it to die. */
  killAll(): void;
  /** How often `refresh` must be called while a task has leftovers; absent when their ends are reported. */
  readonly pollMs?: number;
};

/** With the pid, since a task may itself run a spawner, whose keys mean other tasks. */
export function spawnKeyPrefix(): string {
  return `${process.pid}.`;
}

export function spawnKeyValue(key: number): string {
  return spawnKeyPrefix() + key;
}

const NOBODY: readonly Member[] = [];
/** For the many tasks that leave nothing behind. */
const NONE = new Set<number>();
const UNSEEN: readonly number[] = [];

type Enrolled = {
  readonly member: Member;
  orphans: Set<number>;
  /** Beside that of its main process. */
  sessions: Set<number>;
  /** Processes seen below the task when it was last looked at. */
  seen: readonly number[];
};

/**
 * The kernel puts such a list together a page at a time: a read that brought less than half a page came to its end.
 * That saves the second read, which would say so.
 */
const WHOLE_LIST_BYTES = 2_048;

export class AdoptingKin implements Kin {
  private readonly libc: Libc;
  private readonly childrenFile: number;
  private readonly list = Buffer.from(new ArrayBuffer(WHOLE_LIST_BYTES));
  private readonly listAddress: number;
  private readonly byKey = new Map<number, Enrolled>();
  private readonly byMain = new Map<number, Enrolled>();
  private readonly bySession = new Map<number, Enrolled>();
  private readonly bySeen = new Map<number, Enrolled>();
  private readonly byOrphan = new Map<number, Enrolled>();
  private readonly strays = new Map<number, Set<Enrolled>>();

  constructor(libc: Libc) {
    this.libc = libc;
    this.listAddress = libc.addressOf(this.list);
    this.childrenFile = openSync(`/proc/self/task/${process.pid}/children`, 'r');
  }

  enrol(member: Member): void {
    const enrolled = { member, orphans: NONE, sessions: NONE, seen: UNSEEN };
    this.byKey.set(member.key, enrolled);
    this.byMain.set(member.pid, enrolled);
    this.bySession.set(member.pid, enrolled);
  }

  release(member: Member): void {
    const enrolled = this.find(member);
    this.byKey.delete(member.key);
    if (this.bySession.get(member.pid) === enrolled) this.bySession.delete(member.pid);
    for (const session of enrolled.sessions)
      if (this.bySession.get(session) === enrolled) this.bySession.delete(session);
    this.replaceSeen(enrolled, UNSEEN);
    for (const [pid, candidates] of this.strays) {
      if (!candidates.delete(enrolled)) continue;
      const [last, another] = candidates;
      if (last && !another) this.adopt(pid, last, undefined);
    }
  }

  onMainEnded(member: Member): void {
    this.byMain.delete(member.pid);
  }

  onReaped(pid: number): Member | undefined {
    const owner = this.byOrphan.get(pid);
    owner?.orphans.delete(pid);
    this.byOrphan.delete(pid);
    this.strays.delete(pid);
    return owner?.member;
  }

  refresh(): readonly Member[] {
    // A process that hangs in an exec shows its tag later.
    for (const pid of this.strays.keys()) {
      const owner = this.ownerByTag(pid);
      if (owner) this.adopt(pid, owner, undefined);
    }
    const expected = this.byMain.size + this.byOrphan.size + this.strays.size;
    if (this.countChildren() === expected) return NOBODY;
    const changed = new Set<Member>();
    for (const pid of parsePids(readAll(this.childrenFile))) {
      if (this.byMain.has(pid) || this.byOrphan.has(pid) || this.strays.has(pid)) continue;
      const owner = this.attribute(pid);
      if (owner) changed.add(owner.member);
    }
    return [...changed];
  }

  private countChildren(): number {
    const got = this.libc.readAt(this.childrenFile, this.listAddress, WHOLE_LIST_BYTES, 0);
    if (got < 0 || got >= WHOLE_LIST_BYTES) return countPids(readAll(this.childrenFile));
    return countPids(this.list, got);
  }

  hasLeftovers(member: Member): boolean {
    return this.find(member).orphans.size > 0;
  }

  processes(member: Member): number[] {
    const enrolled = this.find(member);
    const all = rootsOf(enrolled).flatMap((root) => [root, ...descendants(root)]);
    this.replaceSeen(enrolled, all);
    return all;
  }

  roots(member: Member): readonly number[] {
    return listsChildren() ? rootsOf(this.find(member)) : this.processes(member);
  }

  see(member: Member, pids: readonly number[]): void {
    this.replaceSeen(this.find(member), pids);
  }

  terminate(member: Member): void {
    terminateEach(this.processes(member));
  }

  terminateStrays(): void {
    for (const root of this.strays.keys()) terminateEach([root, ...descendants(root)]);
  }

  kill(member: Member): void {
    // What becomes an orphan by these deaths is recognised by having been seen.
    this.processes(member);
    for (const root of rootsOf(this.find(member))) {
      killTree(root, { includeRoot: true, detached: true });
    }
  }

  killAll(): void {
    killTree(process.pid);
  }

  private find(member: Member): Enrolled {
    const enrolled = this.byKey.get(member.key);
    if (!enrolled) throw new Error(`task ${member.key} is not enrolled`);
    return enrolled;
  }

  private attribute(pid: number): Enrolled | undefined {
    const stat = readStat(pid);
    if (!stat) return undefined;
    const owner = this.bySession.get(stat.session) ?? this.ownerByTag(pid) ?? this.bySeen.get(pid);
    if (owner) return this.adopt(pid, owner, stat.session);
    const candidates = this.candidatesFor(stat.startTicks);
    const [only, another] = candidates;
    if (only && !another) return this.adopt(pid, only, stat.session);
    if (only) this.strays.set(pid, candidates);
    // No task can have started it, so nobody waits for it to end.
    else killTree(pid, { includeRoot: true, detached: true });
    return undefined;
  }

  private adopt(pid: number, owner: Enrolled, session: number | undefined): Enrolled {
    this.strays.delete(pid);
    owner.orphans = withMember(owner.orphans, pid);
    this.byOrphan.set(pid, owner);
    if (session !== undefined && !this.bySession.has(session)) {
      this.bySession.set(session, owner);
      owner.sessions = withMember(owner.sessions, session);
    }
    return owner;
  }

  private ownerByTag(pid: number): Enrolled | undefined {
    const value = readEnvironmentEntry(pid, SPAWN_KEY_VARIABLE);
    const prefix = spawnKeyPrefix();
    return value?.startsWith(prefix) ? this.byKey.get(Number(value.slice(prefix.length))) : undefined;
  }

  private candidatesFor(startTicks: number): Set<Enrolled> {
    const candidates = new Set<Enrolled>();
    for (const enrolled of this.byKey.values()) {
      const started = enrolled.member.mainEnded ? undefined : readStat(enrolled.member.pid)?.startTicks;
      if (started === undefined || started <= startTicks) candidates.add(enrolled);
    }
    return candidates;
  }

  private replaceSeen(enrolled: Enrolled, pids: readonly number[]): void {
    for (const pid of enrolled.seen) if (this.bySeen.get(pid) === enrolled) this.bySeen.delete(pid);
    for (const pid of pids) this.bySeen.set(pid, enrolled);
    enrolled.seen = pids;
  }
}

const rootsOf = ({ member, orphans }: Enrolled): number[] =>
  member.mainEnded ? [...orphans] : [member.pid, ...orphans];

function withMember(set: Set<number>, member: number): Set<number> {
  return set === NONE ? new Set([member]) : set.add(member);
}

/** Parents first: a shell whose command dies before it hears of its own end would go on to the next command. */
function terminateEach(pids: readonly number[]): void {
  for (const pid of pids) {
    sendSignal(pid, 'SIGTERM');
    // A stopped process would not notice otherwise.
    sendSignal(pid, 'SIGCONT');
  }
}

/** The kernel writes a space after each. */
function countPids(children: Buffer, length = children.length): number {
  let count = 0;
  for (let at = 0; at < length; at++) if (children[at] === 32) count += 1;
  return count;
}
