/**
 * Which processes belong to which task, where orphans cannot be adopted: the process group of the task's session,
 * the descendants of its main process, and at a kill also whoever carries its tag.
 * Owns the list of tasks. A process that leaves the group and outlives its parents is found by a kill only.
 */

import {
  allProcesses,
  descendants,
  isTagged,
  killTree,
  listsChildren,
  readEnvironmentEntry,
  readStat,
  sendSignal,
} from '../platform/node/process-tree.ts';
import { SPAWN_KEY_VARIABLE } from '../protocol/spawner.ts';
import type { Kin, Member } from './kin.ts';
import { spawnKeyPrefix, spawnKeyValue } from './kin.ts';

export class GroupKin implements Kin {
  readonly pollMs = 25;
  private readonly members = new Set<Member>();

  enrol(member: Member): void {
    this.members.add(member);
  }

  release(member: Member): void {
    this.members.delete(member);
  }

  onMainEnded(): void {}

  onReaped(): undefined {}

  refresh(): readonly Member[] {
    return [];
  }

  hasLeftovers(member: Member): boolean {
    return sendSignal(-member.pid, 0);
  }

  processes(member: Member): number[] {
    return member.mainEnded ? sessionOf(member) : [member.pid, ...descendants(member.pid)];
  }

  roots(member: Member): readonly number[] {
    return member.mainEnded || !listsChildren() ? this.processes(member) : [member.pid];
  }

  see(): void {}

  terminate(member: Member): void {
    const outside = relatives(member).filter((pid) => readStat(pid)?.group !== member.pid);
    for (const pid of [-member.pid, ...outside]) {
      sendSignal(pid, 'SIGTERM');
      sendSignal(pid, 'SIGCONT');
    }
  }

  terminateStrays(): void {}

  kill(member: Member): void {
    const found = relatives(member);
    if (!member.mainEnded) killTree(member.pid, { includeRoot: true, detached: true });
    for (const pid of [-member.pid, ...found]) sendSignal(pid, 'SIGKILL');
  }

  killAll(): void {
    killTree(process.pid);
    for (const member of this.members) sendSignal(-member.pid, 'SIGKILL');
    for (const pid of allProcesses()) {
      if (readEnvironmentEntry(pid, SPAWN_KEY_VARIABLE)?.startsWith(spawnKeyPrefix())) sendSignal(pid, 'SIGKILL');
    }
  }
}

function sessionOf(member: Member): number[] {
  return allProcesses().filter((pid) => readStat(pid)?.session === member.pid);
}

function relatives(member: Member): number[] {
  const tag = `${SPAWN_KEY_VARIABLE}=${spawnKeyValue(member.key)}`;
  const below = new Set(member.mainEnded ? [] : descendants(member.pid));
  return allProcesses().filter((pid) => below.has(pid) || readStat(pid)?.session === member.pid || isTagged(pid, tag));
}
