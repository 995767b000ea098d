/** Checks of a whole cluster, for tests and the simulator. Each names the invariant that it checks. */
import { assert } from '../model/errors.ts';
import { taskId } from '../model/ids.ts';
import { heldByWorkerStates, type TaskState, taskStates } from '../model/states.ts';
import type { Cluster } from './cluster.ts';
import { edgeStatus } from './graph.ts';
import { Limits } from './resources/limits.ts';
import { capacityOf, mayLaunch } from './scheduler/launch.ts';
import { maskOf } from './task/columns.ts';
import { blockTasks } from './task/state-blocks.ts';

const isHeldByWorker = (state: TaskState): boolean => (heldByWorkerStates as readonly TaskState[]).includes(state);

export function checkInvariants(cluster: Cluster): void {
  checkCounts(cluster);
  checkLists(cluster);
  checkAttempts(cluster);
  checkRoom(cluster);
  checkLimits(cluster);
}

/** By a recount over the attempts that have not ended. */
function checkLimits(cluster: Cluster): void {
  const recount = new Limits();
  for (const { task, state } of cluster.attempts.values()) {
    if (state !== 'ended') recount.take(cluster.tasks.workflow(task), cluster.needOf(task));
  }
  const [counted, really] = [cluster.limits, recount].map((limits) => JSON.stringify(limits.counted()));
  assert(counted === really, `of limits ${counted} is in use, really ${really}`);
}

function* allTasks(cluster: Cluster) {
  for (let id = 1; id <= cluster.tasks.size; id++) {
    const task = taskId(id);
    if (cluster.tasks.has(task)) yield task;
  }
}

function checkCounts(cluster: Cluster): void {
  const counts = new Map<string, number>();
  checkMarks(cluster);
  for (const task of allTasks(cluster)) {
    const { tasks, graph } = cluster;
    const state = tasks.state(task);
    const key = `${tasks.workflow(task)} ${state}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (state !== 'registering' && state !== 'waiting') continue;
    let unmet = 0;
    for (const { parent, after } of graph.parents(task))
      unmet += edgeStatus(after, tasks.state(parent)) === 'met' ? 0 : 1;
    assert(tasks.pending(task) === unmet, `task ${task}: ${tasks.pending(task)} pending, ${unmet} unmet edges`);
  }
  for (const state of taskStates) {
    const inBlocks = cluster.tasks.blocks.total(maskOf([state]));
    let inWorkflows = 0;
    for (const workflow of cluster.workflows.values()) inWorkflows += workflow.count(state);
    assert(inBlocks === inWorkflows, `${inBlocks} ${state} by blocks, ${inWorkflows} by workflows`);
  }
  for (const [id, workflow] of cluster.workflows) {
    for (const state of taskStates) {
      const counted = counts.get(`${id} ${state}`) ?? 0;
      assert(workflow.count(state) === counted, `w${id}: ${workflow.count(state)} ${state}, really ${counted}`);
    }
  }
}

/** Of each block. */
function checkMarks(cluster: Cluster): void {
  const { tasks } = cluster;
  for (let first = 0; first <= tasks.size; first += blockTasks) {
    let [attempted, held] = [0, 0];
    for (let id = first; id < first + blockTasks; id++) {
      const task = taskId(id);
      if (!tasks.has(task)) continue;
      if (tasks.lastAttempt(task) !== undefined) attempted++;
      if (tasks.isHeld(task)) held++;
    }
    assert(tasks.blocks.marksInBlockOf(first, 'attempted') === attempted, `${attempted} attempted from ${first} on`);
    assert(tasks.blocks.marksInBlockOf(first, 'held') === held, `${held} held from ${first} on`);
  }
}

function checkLists(cluster: Cluster): void {
  const { tasks } = cluster;
  const lists = {
    releasable: new Set(cluster.releasable),
    doomed: new Set(cluster.doomed),
    joins: new Set(cluster.joins),
    triaging: new Set(cluster.triaging),
    adjusting: new Set(cluster.adjusting),
  };
  for (const task of allTasks(cluster)) {
    const state = tasks.state(task);
    const isFree = state === 'waiting' && tasks.pending(task) === 0 && !tasks.isHeld(task);
    assert(!isFree || lists.releasable.has(task), `task ${task} could be queued and is on no list`);
    assert(
      state !== 'waiting' || !cluster.isDoomed(task) || lists.doomed.has(task),
      `task ${task} is doomed, unlisted`,
    );
    const isJoin = state === 'queued' && tasks.kind(task) !== 'command' && !tasks.isHeld(task);
    assert(!isJoin || lists.joins.has(task), `join ${task} could complete and is on no list`);
    assert(state !== 'triaging' || lists.triaging.has(task), `task ${task} is triaged by nobody`);
    assert(state !== 'adjusting' || lists.adjusting.has(task), `task ${task} is adjusted by nobody`);
  }
}

function checkRoom({ liveWorkers, vacant, eager, workflows, sources, patient }: Cluster): void {
  for (const worker of liveWorkers.values()) {
    if (!mayLaunch(worker)) continue;
    const { id, attempts, slots } = worker;
    assert(attempts.size >= slots || vacant.has(worker), `worker k${id} has a free slot that nobody knows of`);
    assert(attempts.size >= capacityOf(worker) || eager.has(worker), `worker k${id} has room that nobody knows of`);
  }
  for (const workflow of workflows.values()) {
    if (!workflow.launches || workflow.ready.size === 0) continue;
    assert(sources.has(workflow), `w${workflow.id} has tasks to launch, unlisted`);
    assert(workflow.rules.failFast || patient.has(workflow), `w${workflow.id} has tasks to send ahead, unlisted`);
  }
}

function checkAttempts(cluster: Cluster): void {
  const { tasks, attempts, workers } = cluster;
  let live = 0;
  for (const [id, attempt] of attempts) {
    if (attempt.state === 'ended') continue;
    live++;
    assert(tasks.lastAttempt(attempt.task) === id, `attempt ${id} is the last of its task`);
    assert(
      isHeldByWorker(tasks.state(attempt.task)),
      `task ${attempt.task} has a live attempt and is ${tasks.state(attempt.task)}`,
    );
    assert(workers.get(attempt.worker)?.attempts.has(id), `attempt ${id} is in its worker's set`);
  }
  let holding = 0;
  for (const task of allTasks(cluster)) if (isHeldByWorker(tasks.state(task))) holding++;
  assert(holding === live, `${holding} tasks are with a worker, ${live} attempts are live`);
  let onWorkers = 0;
  for (const worker of workers.values()) onWorkers += worker.attempts.size;
  assert(onWorkers === live, `workers have ${onWorkers} attempts, ${live} are live`);
}
