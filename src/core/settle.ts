/**
 * What the controller does by itself after anything changed: releases and cancels continuations, completes joins,
 * triages, expires, starts and ends workflows. Bounded: one call makes about `limit` changes and says whether more is
 * left, so that no barrier before a million tasks blocks the loop. All of its work is derived from the cluster, so a
 * crash between two calls loses nothing.
 */
import { type TaskId, taskId, type WorkflowId } from '../model/ids.ts';
import { registrationIdleMs } from '../model/limits.ts';
import type { CancelReason } from '../model/states.ts';
import { edgeStatus } from './graph.ts';
import { expireSuspicions, nextSuspicionEnd } from './scheduler/suspicion.ts';
import { adjustTask } from './task/adjusting.ts';
import { isDoomed, isUnneeded } from './task/waiting.ts';
import type { Turn } from './turn.ts';
import type { WorkflowRecord } from './workflow/record.ts';
import { abortWorkflow } from './workflow/registration.ts';

/** Returns whether there is more to do. */
export function settle(turn: Turn, limit: number): boolean {
  const { cluster } = turn;
  const { work } = cluster;
  const isFull = (): boolean => turn.changes.length >= limit;
  expireAndWake(turn);
  expireSuspicions(turn);
  for (;;) {
    const before = turn.changes.length;
    const suspended = drain(work.triaging, isFull, (task) => triage(turn, task));
    for (const task of suspended) work.triaging.push(task);
    drain(work.adjusting, isFull, (task) => adjustTask(turn, task));
    drain(work.doomed, isFull, (task) => cancelDoomed(turn, task));
    drain(work.releasable, isFull, (task) => release(turn, task));
    const unready = drain(work.joins, isFull, (task) => completeJoin(turn, task));
    for (const join of unready) work.joins.push(join);
    if (isFull()) return true;
    for (const workflow of takeAttention(turn)) {
      if (advance(turn, cluster.workflow(workflow), limit)) work.attention.add(workflow);
    }
    if (isFull()) return true;
    if (turn.changes.length === before) return work.attention.size > 0;
  }
}

/** When the cluster has to be settled again without any input. */
export function nextDeadline(cluster: Turn['cluster']): number {
  const { delayed, deadlines } = cluster.work;
  const next = Math.min(
    delayed.peekKey() ?? Number.POSITIVE_INFINITY,
    (deadlines.peekKey() ?? Number.POSITIVE_INFINITY) + 1,
    nextSuspicionEnd(cluster),
  );
  // They are in the order in which their definers were heard: the first is the first to be given up.
  for (const id of cluster.registering) return Math.min(next, cluster.workflow(id).touchedAt + registrationIdleMs);
  return next;
}

/** Takes entries first in, first out, while there is room; returns those that have to stay. */
function drain(list: TaskId[], isFull: () => boolean, act: (task: TaskId) => 'stays' | undefined): TaskId[] {
  const staying: TaskId[] = [];
  if (list.length === 0) return staying;
  let taken = 0;
  while (taken < list.length && !isFull()) {
    const task = list[taken++] as TaskId;
    if (act(task) === 'stays') staying.push(task);
  }
  list.splice(0, taken);
  return staying;
}

function takeAttention({ cluster }: Turn): WorkflowId[] {
  const { attention } = cluster.work;
  const taken = [...attention];
  attention.clear();
  return taken;
}

function expireAndWake(turn: Turn): void {
  const { cluster, now } = turn;
  const { candidates, tasks } = cluster;
  const { delayed, deadlines } = cluster.work;
  for (let key = delayed.peekKey(); key !== undefined && key <= now; key = delayed.peekKey()) {
    const task = taskId(delayed.pop());
    const isDue = tasks.state(task) === 'queued' && !tasks.isHeld(task) && tasks.notBefore(task) <= now;
    if (isDue) candidates.makeReady(task);
  }
  for (let key = deadlines.peekKey(); key !== undefined && key < now; key = deadlines.peekKey()) {
    turn.task(taskId(deadlines.pop()), { type: 'expire', now }, 'controller');
  }
  for (const id of cluster.registering) {
    if (cluster.workflow(id).touchedAt + registrationIdleMs > now) break;
    abortWorkflow(turn, id);
  }
}

function triage(turn: Turn, task: TaskId): 'stays' | undefined {
  if (turn.cluster.suspended.has(task)) return 'stays';
  if (turn.cluster.tasks.state(task) === 'triaging') {
    turn.task(task, { type: 'triage', now: turn.now, fatal: false }, 'controller');
  }
  return undefined;
}

function cancelDoomed(turn: Turn, task: TaskId): undefined {
  const { cluster } = turn;
  if (cluster.tasks.state(task) !== 'waiting' || !isDoomed(cluster, task)) return;
  const { stop } = cluster.workflow(cluster.tasks.workflow(task));
  const reason: CancelReason = stop ?? (isUnneeded(cluster, task) ? 'unneeded' : 'upstream');
  turn.task(task, { type: 'cancel', reason }, 'controller');
}

function release(turn: Turn, task: TaskId): undefined {
  const { tasks } = turn.cluster;
  const isFree = tasks.state(task) === 'waiting' && tasks.pending(task) === 0 && !tasks.isHeld(task);
  if (isFree) turn.task(task, { type: 'satisfy' }, 'controller');
}

/** While a run is being made its tasks are reset one by one: a join waits until all of them are. */
function completeJoin(turn: Turn, task: TaskId): 'stays' | undefined {
  const { tasks, graph } = turn.cluster;
  if (tasks.state(task) !== 'queued' || tasks.isHeld(task)) return undefined;
  if (turn.cluster.workflow(tasks.workflow(task)).state === 'instantiating') return 'stays';
  let checkFailed = false;
  if (tasks.kind(task) === 'check') {
    for (const { parent } of graph.parents(task)) checkFailed ||= edgeStatus('failure', tasks.state(parent)) === 'met';
  }
  turn.task(task, { type: 'complete', checkFailed }, 'controller');
  return undefined;
}

/** Returns whether the workflow needs another look although nothing else changes. */
function advance(turn: Turn, workflow: WorkflowRecord, limit: number): boolean {
  const { id } = workflow;
  switch (workflow.state) {
    case 'queued':
      turn.workflow(id, { type: 'admit' }, 'controller');
      return false;
    case 'instantiating':
      // Nothing was tried before the first run: what has ended by then, its latest start being over, has ended for good.
      if (workflow.run > 1 && !sweep(turn, workflow, limit, (task) => resetForRun(turn, task))) return true;
      turn.workflow(id, { type: 'instantiate' }, 'controller');
      return false;
    case 'launched':
      turn.workflow(id, { type: 'schedule' }, 'distributor');
      return false;
    case 'running':
    case 'halting':
      return advanceRun(turn, workflow, limit);
    default:
      return false;
  }
}

function advanceRun(turn: Turn, workflow: WorkflowRecord, limit: number): boolean {
  const { id, stop } = workflow;
  if (stop === undefined && workflow.rules.failFast && workflow.count('failed') > 0) {
    turn.workflow(id, { type: 'fail-fast' }, 'controller');
    return true;
  }
  if (stop !== undefined) {
    const cancel = (task: TaskId) => turn.task(task, { type: 'cancel', reason: stop }, 'controller');
    if (!sweep(turn, workflow, limit, cancel)) return true;
    // Tasks that were added or retried behind the sweep are cancelled like the rest.
    if (workflow.unended > workflow.count('cancelling')) {
      workflow.sweptTo = 0;
      return true;
    }
  }
  if (workflow.unended === 0 && !workflow.open) turn.workflow(id, { type: 'finish' }, 'controller');
  else if (workflow.state === 'halting' && workflow.live === 0) turn.workflow(id, { type: 'settle' }, 'controller');
  return false;
}

/** A resumed run tries again what failed, and what was cancelled because of that; never what is done. */
function resetForRun(turn: Turn, task: TaskId): void {
  const state = turn.cluster.tasks.state(task);
  if (state !== 'failed' && state !== 'cancelled') return;
  const view = turn.cluster.taskView(task);
  if (view.state === 'failed' || (view.state === 'cancelled' && view.reason !== 'user'))
    turn.task(task, { type: 'retry' }, 'controller');
}

/** Goes over all tasks of a workflow, as far as the limit allows; returns whether it came to the end. */
function sweep(turn: Turn, workflow: WorkflowRecord, limit: number, act: (task: TaskId) => void): boolean {
  if (workflow.sweptTo >= workflow.size) return true;
  for (const task of workflow.tasks(workflow.sweptTo + 1)) {
    if (turn.changes.length >= limit) return false;
    act(task);
    workflow.sweptTo = turn.cluster.tasks.index(task);
  }
  return true;
}
