/** Checks of a whole cluster, for tests and the simulator. Each names the invariant that it checks. */
import { assert } from '../model/errors.ts';
import { taskId } from '../model/ids.ts';
import { isHeldByWorker, taskStates } from '../model/states.ts';
import type { Cluster } from './cluster.ts';
import { edgeStatus } from './graph.ts';
import { Limits } from './resources/limits.ts';
import { Load, slotParts } from './resources/room.ts';
import type { Lane } from './scheduler/lanes.ts';
import { hasRoom, mayLaunch, prefetchOf } from './scheduler/placement.ts';
import { maskOf } from './task/columns.ts';
import { blockTasks } from './task/state-blocks.ts';
import { isDoomed } from './task/waiting.ts';
import type { WorkerRecord } from './worker.ts';

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
  const unneeded = new Map<string, number>();
  const ended = new Map<number, number>();
  checkMarks(cluster);
  for (const task of allTasks(cluster)) {
    const { tasks, graph } = cluster;
    const state = tasks.state(task);
    const key = `${tasks.workflow(task)} ${state}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    const endedOfTask = tasks.attemptNumber(task) - Number(isHeldByWorker(state));
    ended.set(tasks.workflow(task), (ended.get(tasks.workflow(task)) ?? 0) + endedOfTask);
    if (tasks.reason(task) === 'unneeded') unneeded.set(key, (unneeded.get(key) ?? 0) + 1);
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
    const really = unneeded.get(`${id} cancelled`) ?? 0;
    assert(workflow.unneeded === really, `w${id}: ${workflow.unneeded} unneeded, really ${really}`);
    const attempts = ended.get(id) ?? 0;
    assert(workflow.attemptsEnded === attempts, `w${id}: ${workflow.attemptsEnded} attempts, really ${attempts}`);
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
    for (let id = first; id < first + blockTasks && id <= tasks.size; id++) {
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
  const { tasks, work } = cluster;
  const lists = {
    releasable: new Set(work.releasable),
    doomed: new Set(work.doomed),
    joins: new Set(work.joins),
    triaging: new Set(work.triaging),
    adjusting: new Set(work.adjusting),
  };
  for (const task of allTasks(cluster)) {
    const state = tasks.state(task);
    const isFree = state === 'waiting' && tasks.pending(task) === 0 && !tasks.isHeld(task);
    assert(!isFree || lists.releasable.has(task), `task ${task} could be queued and is on no list`);
    assert(
      state !== 'waiting' || !isDoomed(cluster, task) || lists.doomed.has(task),
      `task ${task} is doomed, unlisted`,
    );
    const isJoin = state === 'queued' && tasks.kind(task) !== 'command' && !tasks.isHeld(task);
    assert(!isJoin || lists.joins.has(task), `join ${task} could complete and is on no list`);
    assert(state !== 'triaging' || lists.triaging.has(task), `task ${task} is triaged by nobody`);
    assert(state !== 'adjusting' || lists.adjusting.has(task), `task ${task} is adjusted by nobody`);
  }
}

function checkRoom(cluster: Cluster): void {
  const { liveWorkers, lanes } = cluster;
  const { vacant, eager } = cluster.candidates;
  for (const worker of liveWorkers.values()) {
    if (!mayLaunch(worker)) continue;
    const { id, load, room } = worker;
    const ahead = prefetchOf(worker);
    assert(load.cpus >= room.cpus || vacant.has(worker), `worker k${id} has a free slot that nobody knows of`);
    assert(
      load.cpus >= room.cpus + ahead * slotParts || eager.has(worker),
      `worker k${id} has room ahead that nobody knows of`,
    );
    for (const lane of lanes.now.stuck) assert(!hasRoomFor(worker, lane, 0), `worker k${id} has room for a stuck lane`);
    for (const lane of lanes.ahead.stuck) {
      assert(lane.isBehind || !hasRoomFor(worker, lane, ahead), `worker k${id} has room ahead for a stuck lane`);
    }
  }
  checkLanes(cluster);
}

/** Whether time is left is another question at any time. */
const hasRoomFor = (worker: WorkerRecord, lane: Lane, ahead: number): boolean =>
  !lane.turns.isEmpty && hasRoom(worker, lane, ahead, Number.POSITIVE_INFINITY);

function checkLanes(cluster: Cluster): void {
  const { workflows, lanes } = cluster;
  for (const workflow of workflows.values()) {
    if (!workflow.launches) continue;
    for (const queue of workflow.ready.queues()) {
      if (queue.isEmpty || !cluster.limits.admits(workflow, cluster.needs.get(queue.need))) continue;
      assert(lanes.has(queue.need, workflow), `w${workflow.id} has tasks to launch, unlisted`);
    }
  }
  for (const lane of lanes.all()) {
    const { open, stuck } = lanes.ahead;
    assert(lane.failsFast || open.has(lane) || stuck.has(lane), `need ${lane.number} is never sent ahead`);
    assert(lane.reserved === undefined || lane.reserved.reservedFor === lane.id, 'a reservation is known to both');
  }
}

function checkAttempts(cluster: Cluster): void {
  const { tasks, attempts, workers } = cluster;
  const loads = new Map<number, Load>();
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
    const load = loads.get(attempt.worker) ?? new Load();
    loads.set(attempt.worker, load);
    load.add(cluster.needs.demand(attempt.need));
  }
  let holding = 0;
  for (const task of allTasks(cluster)) if (isHeldByWorker(tasks.state(task))) holding++;
  assert(holding === live, `${holding} tasks are with a worker, ${live} attempts are live`);
  let onWorkers = 0;
  for (const worker of workers.values()) {
    onWorkers += worker.attempts.size;
    assert(isSameLoad(worker.load, loads.get(worker.id)), `what attempts of k${worker.id} take is their sum`);
  }
  assert(onWorkers === live, `workers have ${onWorkers} attempts, ${live} are live`);
}

const noLoad = new Load();

function isSameLoad(one: Load, other: Load = noLoad): boolean {
  const isSamePools = [...one.pools].every(([name, amount]) => (other.pools.get(name) ?? 0) === amount);
  const { cpus, memoryBytes, gpus, odd } = other;
  return isSamePools && one.cpus === cpus && one.memoryBytes === memoryBytes && one.gpus === gpus && one.odd === odd;
}
