/**
 * Which queued task goes to which worker. Workflows take turns, tasks of one go in the order of their ids; slots are
 * filled first, then every worker gets a little ahead, measured in time, so that a slot never waits for a round trip.
 */
import { type AttemptId, attemptId, type TaskId, taskId } from '../../model/ids.ts';
import { prefetchMax, prefetchMs } from '../../model/limits.ts';
import type { Turn } from '../turn.ts';
import type { WorkerRecord } from '../worker.ts';
import type { WorkflowRecord } from '../workflow/record.ts';

export interface Assignment {
  readonly worker: WorkerRecord;
  readonly attempts: readonly AttemptId[];
}

const mayLaunch = ({ state, isAway, bar }: WorkerRecord): boolean =>
  state === 'healthy' && !isAway && bar === undefined;

/** Before the first end nothing is known of how long tasks take: nothing is sent ahead. */
function prefetchOf(worker: WorkerRecord): number {
  if (worker.averageMs === 0) return 0;
  return Math.min(prefetchMax, Math.floor((worker.slots * prefetchMs) / worker.averageMs));
}

export interface Launched {
  readonly assignments: readonly Assignment[];
  /** It stopped at the limit: there is more to launch. */
  readonly isCut: boolean;
}

export function launchTasks(turn: Turn, limit: number): Launched {
  const workers = [...turn.cluster.liveWorkers.values()].filter(mayLaunch);
  if (workers.length === 0) return { assignments: [], isCut: false };
  const launchable = [...turn.cluster.active].map((id) => turn.cluster.workflow(id)).filter((w) => w.launches);
  const assigned = new Map<WorkerRecord, AttemptId[]>(workers.map((worker) => [worker, []]));
  fill(turn, launchable, assigned, limit, (worker) => worker.slots);
  // Under fail-fast nothing may start into a freed slot before the failure is known: nothing is sent ahead.
  const patient = launchable.filter((workflow) => !workflow.rules.failFast);
  fill(turn, patient, assigned, limit, (worker) => worker.slots + prefetchOf(worker));
  const assignments = [...assigned]
    .filter(([, attempts]) => attempts.length > 0)
    .map(([worker, attempts]) => ({ worker, attempts }));
  return { assignments, isCut: turn.changes.length >= limit };
}

function fill(
  turn: Turn,
  workflows: readonly WorkflowRecord[],
  assigned: Map<WorkerRecord, AttemptId[]>,
  limit: number,
  capacity: (worker: WorkerRecord) => number,
): void {
  let sources = workflows.filter((workflow) => workflow.ready.size > 0);
  const { avoided } = turn.cluster;
  for (const [worker, attempts] of assigned) {
    const most = capacity(worker);
    const aside: TaskId[] = [];
    while (worker.attempts.size < most && sources.length > 0 && turn.changes.length < limit) {
      const [source, ...others] = sources as [WorkflowRecord, ...WorkflowRecord[]];
      const task = takeReady(turn, source);
      sources = task === undefined ? others : [...others, source];
      if (task === undefined) continue;
      if (avoided.get(task) === worker.id) aside.push(task);
      else attempts.push(launch(turn, task, worker));
    }
    if (aside.length > 0) sources = putBack(turn, aside, workflows);
  }
}

/** Tasks that are not to be tried on that worker are there for the others. */
function putBack({ cluster }: Turn, tasks: readonly TaskId[], workflows: readonly WorkflowRecord[]): WorkflowRecord[] {
  for (const task of tasks) cluster.workflow(cluster.tasks.workflow(task)).ready.push(task, task);
  return workflows.filter((workflow) => workflow.ready.size > 0);
}

/** The next task that may really be launched; entries that no longer hold are dropped on the way. */
function takeReady(turn: Turn, workflow: WorkflowRecord): TaskId | undefined {
  const { tasks } = turn.cluster;
  while (workflow.ready.size > 0) {
    const task = taskId(workflow.ready.pop());
    if (tasks.state(task) !== 'queued' || tasks.isHeld(task) || tasks.notBefore(task) > turn.now) continue;
    if (tasks.until(task) < turn.now) turn.task(task, { type: 'expire', now: turn.now }, 'controller');
    else return task;
  }
  return undefined;
}

function launch(turn: Turn, task: TaskId, worker: WorkerRecord): AttemptId {
  const attempt = attemptId(turn.cluster.lastAttempt + 1);
  const number = turn.cluster.tasks.attemptNumber(task) + 1;
  turn.emit({ type: 'attempt-recorded', attempt, task, number, worker: worker.id });
  turn.task(task, { type: 'launch', attempt, number, now: turn.now }, 'distributor');
  return attempt;
}
