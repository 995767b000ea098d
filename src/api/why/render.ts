/** From reasons as the core has them to what readers see. */
import type { Cluster } from '../../core/cluster.ts';
import type { Dependency, Reason, Some, TaskWhy } from '../../core/why/reason.ts';
import { printWorker, type TaskId, type WorkerId } from '../../model/ids.ts';
import { showBytes } from '../../model/units.ts';
import type { Missing, NamedTask, NamedWorker, ReasonView, TaskWhyView } from '../../protocol/views/why.ts';
import { iso, optional, renderOutcome } from '../render.ts';
import { adviceFor } from './advice.ts';
import { attemptName, sentenceOf } from './sentences.ts';
import { type Told, taskName } from './told.ts';

/** What of a `Told` is the same for all reasons of an answer. */
export type Telling = Pick<Told, 'cluster' | 'now' | 'outcomes' | 'shortfalls'>;

export function renderTaskWhy({ task, state, reasons, root }: TaskWhy, telling: Telling): TaskWhyView {
  return {
    ...{ task: taskName(telling.cluster, task), state, reasons: reasonsOfTask(task, reasons, telling) },
    ...optional(
      'root',
      root && {
        ...{ task: taskName(telling.cluster, root.task), state: root.state, steps: root.steps },
        ...optional('isCut', root.isCut ? (true as const) : undefined),
        reasons: reasonsOfTask(root.task, root.reasons, telling),
      },
    ),
  };
}

function reasonsOfTask(task: TaskId, reasons: readonly Reason[], telling: Telling): ReasonView[] {
  const { cluster } = telling;
  const [subject, workflow] = [taskName(cluster, task), `its workflow w${cluster.tasks.workflow(task)}`];
  return reasons.map((reason) => renderReason(reason, { ...telling, subject, workflow, task }));
}

export function renderReason(reason: Reason, told: Told): ReasonView {
  return {
    ...{ kind: reason.kind, text: sentenceOf(reason, told), advice: adviceFor(reason, told.subject) },
    ...factsOf(reason, told),
  };
}

type Facts = Omit<ReasonView, 'kind' | 'text' | 'advice'>;

const cut = (isCut: boolean): Facts => (isCut ? { isCut: true } : {});

const someTasks = (cluster: Cluster, some: Some<TaskId>): Facts => ({
  tasks: some.first.map((task) => ({ id: taskName(cluster, task), state: cluster.tasks.state(task) })),
  ...{ taskCount: some.count, ...cut(some.isCut) },
});

const dependencies = (cluster: Cluster, some: Some<Dependency>): Facts => ({
  tasks: some.first.map(({ task, state, after }): NamedTask => ({ id: taskName(cluster, task), state, after })),
  ...{ taskCount: some.count, ...cut(some.isCut) },
});

const namedWorker = ({ workers }: Cluster, id: WorkerId, more: Partial<NamedWorker> = {}): NamedWorker => ({
  ...{ id: printWorker(id), host: workers.get(id)?.host ?? '?', ...more },
});

const someWorkers = (cluster: Cluster, some: Some<WorkerId>): Facts => ({
  ...{ workers: some.first.map((id) => namedWorker(cluster, id)), workerCount: some.count, ...cut(some.isCut) },
});

const oneWorker = (cluster: Cluster, id: WorkerId): Facts => ({ workers: [namedWorker(cluster, id)] });

function factsOf(reason: Reason, { cluster, outcomes, task }: Told): Facts {
  switch (reason.kind) {
    case 'registering':
    case 'latest-start':
      return { until: iso(reason.until) };
    case 'dependencies':
      return dependencies(cluster, reason.on);
    case 'back-off':
    case 'failed': {
      const outcome = reason.attempt === undefined ? undefined : outcomes.get(reason.attempt);
      const number = reason.kind === 'failed' ? reason.attempts : reason.number;
      return {
        ...(reason.kind === 'failed' ? { reason: reason.reason } : { until: iso(reason.until) }),
        ...(task === undefined || number === 0 ? {} : { attempt: attemptName(cluster, task, number) }),
        ...optional('outcome', outcome && renderOutcome(outcome)),
      };
    }
    case 'suspended':
      return {
        ...oneWorker(cluster, reason.worker),
        ...{ until: iso(reason.until), ...someTasks(cluster, { first: [reason.trial], count: 1, isCut: false }) },
      };
    case 'initial-wait':
      return {
        ...someWorkers(cluster, reason.workers),
        ...optional('until', reason.until === undefined ? undefined : iso(reason.until)),
      };
    case 'limit': {
      const { name, max, used, asked, holders } = reason;
      return { limit: { name, max, used, asked }, ...someTasks(cluster, holders) };
    }
    case 'workflow-limit':
      return { limit: { name: 'workflow', max: reason.max, used: reason.used, asked: 1 } };
    case 'group-limit':
      return { limit: { name: reason.group, max: reason.max, used: reason.used, asked: 1 } };
    case 'no-queue':
      return { queue: reason.queue };
    case 'too-large':
      return {
        ...{ queue: reason.need.queue, ...oneWorker(cluster, reason.nearest), workerCount: reason.workers },
        ...{ missing: reason.lacks.map(({ of, asked, there }) => ({ of: bare(of), asked, there })) },
        ...cut(reason.isCut),
      };
    case 'workers-unavailable': {
      const { first, count, isCut } = reason.workers;
      const workers = first.map(({ worker, obstacle, why }) =>
        namedWorker(cluster, worker, { obstacle, ...optional('why', why) }),
      );
      return { workers, workerCount: count, ...cut(isCut) };
    }
    case 'unclaimed':
    case 'reserved':
      return someWorkers(cluster, reason.workers);
    case 'slots-busy':
      return { ...oneWorker(cluster, reason.nearest), workerCount: reason.workers, ...cut(reason.isCut) };
    case 'no-room':
      return {
        ...{ ...someTasks(cluster, reason.runs), ...oneWorker(cluster, reason.nearest), workerCount: reason.workers },
        ...{ missing: reason.short.map(missingOf), ...cut(reason.isCut) },
      };
    case 'reserved-for-it':
      return oneWorker(cluster, reason.worker);
    case 'avoided':
      return {
        ...oneWorker(cluster, reason.worker),
        ...optional('until', reason.until === undefined ? undefined : iso(reason.until)),
      };
    case 'higher-priority':
    case 'behind':
      return { taskCount: reason.tasks, ...cut(reason.isCut) };
    case 'next':
      return { workerCount: reason.workers };
    case 'sent':
    case 'unsure':
    case 'queued-at-worker':
    case 'running':
    case 'cancelling':
      return {
        ...oneWorker(cluster, reason.worker),
        since: iso(reason.since),
        ...(task === undefined ? {} : { attempt: attemptName(cluster, task, reason.number) }),
        ...(reason.kind === 'queued-at-worker' ? { taskCount: reason.before } : {}),
        ...(reason.kind === 'cancelling' ? { reason: reason.reason } : {}),
      };
    case 'worker-silent': {
      const { worker, obstacle, why, until } = reason;
      return {
        workers: [namedWorker(cluster, worker, { obstacle, ...optional('why', why) })],
        ...optional('until', until === undefined ? undefined : iso(until)),
      };
    }
    case 'cancelled':
      return { reason: reason.reason, ...(reason.by.count === 0 ? {} : dependencies(cluster, reason.by)) };
    case 'workflow-starting':
    case 'workflow-halted':
    case 'workflow-stopping':
    case 'held':
    case 'settling':
    case 'no-worker':
    case 'done':
    case 'aborted':
    case 'open':
    case 'ended':
      return {};
  }
}

/** `memory` of ` of memory`. */
const bare = (of: string): string => of.trim().replace(/^of /, '');

const missingOf = ({ of, asked, free }: Extract<Reason, { kind: 'no-room' }>['short'][number]): Missing => {
  const show = of === 'memory' ? showBytes : String;
  return { of: of.replace(/^pool:/, ''), asked: show(asked), there: show(free) };
};
