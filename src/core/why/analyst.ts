/**
 * Finds out why tasks are not done, for one answer: what was found for one task is known for the next.
 *
 * Owns: nothing of the cluster, which it only looks at; what it has found out so far, as long as nothing changes.
 * 1. Every state of a task has at least one reason.
 * 2. The first reason is the one that has to go first.
 */
import type { TaskId, WorkflowId } from '../../model/ids.ts';
import { registrationIdleMs, whyLimits } from '../../model/limits.ts';
import type { ReasonKind } from '../../model/reasons.ts';
import { isEndedTask } from '../../model/states.ts';
import type { Cluster } from '../cluster.ts';
import type { Refusal } from '../resources/limits.ts';
import type { TaskView } from '../task/view.ts';
import { isDoomed } from '../task/waiting.ts';
import type { WorkflowRecord } from '../workflow/record.ts';
import { reasonsOfHeld } from './at-worker.ts';
import { placeInLine } from './place-in-line.ts';
import { Placing } from './placing.ts';
import type { Outlook, Reason, Settling, Some, TaskWhy } from './reason.ts';
import { Roots } from './roots.ts';
import { Few } from './some.ts';

type In<S extends TaskView['state']> = Extract<TaskView, { readonly state: S }>;

/** Of several tasks behind one, the one with the highest is told: for 3 somebody has to do something, 1 goes on by itself. */
const urgency: Readonly<Record<ReasonKind, 1 | 2 | 3>> = {
  ...{ held: 3, 'too-large': 3, 'no-worker': 3, 'no-queue': 3, 'workflow-halted': 3 },
  ...{ failed: 3, cancelled: 3, aborted: 3, open: 3, ended: 3 },
  ...{ registering: 2, suspended: 2, 'initial-wait': 2, limit: 2, 'workflow-limit': 2, 'group-limit': 2 },
  ...{ 'workers-unavailable': 2, unclaimed: 2, reserved: 2, avoided: 2, 'worker-silent': 2, unsure: 2 },
  ...{ 'workflow-starting': 1, 'workflow-stopping': 1, dependencies: 1, 'back-off': 1, settling: 1 },
  ...{ 'latest-start': 1, 'slots-busy': 1, 'no-room': 1, 'reserved-for-it': 1, 'higher-priority': 1 },
  ...{ behind: 1, next: 1, sent: 1, 'queued-at-worker': 1, running: 1, cancelling: 1, done: 1 },
};

export class Analyst {
  readonly #cluster: Cluster;
  readonly #outlook: Outlook;
  readonly #placings = new Map<number, Placing>();
  readonly #holders = new Map<string, Some<TaskId>>();
  readonly #roots: Roots;

  constructor(cluster: Cluster, outlook: Outlook) {
    this.#cluster = cluster;
    this.#outlook = outlook;
    this.#roots = new Roots(cluster, (task) => Math.max(...this.reasonsOf(task).map(({ kind }) => urgency[kind])));
  }

  /** All there is to say of one task. */
  why(task: TaskId): TaskWhy {
    const { tasks } = this.#cluster;
    const root = this.#roots.rootOf(task);
    return {
      task,
      state: tasks.state(task),
      reasons: [...this.reasonsOf(task), ...this.#lineOf(task)].sort(isLast),
      root:
        root === undefined
          ? undefined
          : {
              ...{ task: root.task, steps: root.steps, isCut: root.isCut },
              ...{ state: tasks.state(root.task), reasons: this.reasonsOf(root.task) },
            },
    };
  }

  /** What kind of reason is at the end of its dependencies. */
  rootKindOf(task: TaskId): ReasonKind | undefined {
    const root = this.#roots.rootOf(task);
    return root === undefined ? undefined : this.reasonsOf(root.task)[0]?.kind;
  }

  /** All but what goes before it, which is of interest for one task alone. */
  reasonsOf(task: TaskId): Reason[] {
    const view = this.#viewOf(task);
    switch (view.state) {
      case 'registering':
        return [this.#registering(view), ...this.#dependencies(view), ...held(this.#cluster, view), ...latest(view)];
      case 'waiting':
        return this.#waiting(view);
      case 'queued':
        return this.#queued(view);
      case 'launched':
      case 'running':
      case 'cancelling':
        return [...reasonsOfHeld(this.#cluster, this.#outlook, view), ...this.#halting(view)];
      case 'triaging':
        return [this.#triaging(view), ...held(this.#cluster, view), ...latest(view)];
      case 'adjusting':
        return [{ kind: 'settling', what: 'adjust' }, ...held(this.#cluster, view), ...latest(view)];
      case 'done':
        return [{ kind: 'done', attempts: view.attemptNumber }];
      case 'failed': {
        const { reason, lastAttempt: attempt, attemptNumber: attempts } = view;
        return [{ kind: 'failed', reason, attempt, attempts }];
      }
      case 'cancelled': {
        const isForOthers = view.reason === 'upstream' || view.reason === 'unneeded';
        const by = isForOthers ? this.#roots.dependenciesOf(task) : new Few<never>();
        return [{ kind: 'cancelled', reason: view.reason, by }];
      }
      case 'aborted':
        return [{ kind: 'aborted', workflow: view.workflow }];
    }
  }

  /** As the tables see it, but that edges of one that has ended are not counted anew: there may be very many. */
  #viewOf(task: TaskId): TaskView {
    const { tasks } = this.#cluster;
    return tasks.view(task, this.#cluster.workflow(tasks.workflow(task)).rules, []);
  }

  #registering({ workflow }: TaskView): Reason {
    return registeringOf(this.#cluster.workflow(workflow));
  }

  #dependencies({ id, pending }: TaskView): Reason[] {
    return pending === 0 ? [] : [{ kind: 'dependencies', on: this.#roots.dependenciesOf(id) }];
  }

  #waiting(view: In<'waiting'>): Reason[] {
    const own = [...this.#dependencies(view), ...held(this.#cluster, view)];
    const about = aboutToBe(this.#cluster, view);
    const first: Reason[] = about === undefined ? own : [{ kind: 'settling', what: about }, ...own];
    return [...first, ...this.#workflowReasons(view), ...latest(view)];
  }

  #queued(view: In<'queued'>): Reason[] {
    const { now } = this.#outlook;
    const stopped = [...this.#workflowReasons(view), ...held(this.#cluster, view)];
    if (view.kind !== 'command') {
      return stopped.length > 0 ? stopped : [{ kind: 'settling', what: 'complete' }];
    }
    const reasons = [...stopped];
    if (view.notBefore > now) {
      const { notBefore: until, lastAttempt: attempt, attemptNumber: number } = view;
      reasons.push({ kind: 'back-off', until, attempt, number });
    }
    reasons.push(...this.#initialWait(), ...this.#refusals(view));
    const { avoided } = this.#cluster;
    const placing = this.#placingOf(view);
    const unplaced = placing.reasons(avoided.get(view.id));
    reasons.push(...unplaced);
    if (reasons.length === 0) reasons.push({ kind: 'next', workers: placing.openBeside(avoided.get(view.id)) });
    return [...reasons, ...latest(view)];
  }

  /** What goes before it, if that is all that it waits for. */
  #lineOf(task: TaskId): Reason[] {
    const view = this.#viewOf(task);
    if (view.state !== 'queued' || view.kind !== 'command' || view.held || view.notBefore > this.#outlook.now)
      return [];
    if (this.#workflowReasons(view).length + this.#initialWait().length + this.#refusals(view).length > 0) return [];
    if (!this.#placingOf(view).hasPlaces) return [];
    const { higher, highest, before, isCut } = placeInLine(this.#cluster, task);
    const reasons: Reason[] = [];
    if (higher > 0) reasons.push({ kind: 'higher-priority', tasks: higher, isCut, priority: view.priority, highest });
    if (before > 0) reasons.push({ kind: 'behind', tasks: before, isCut });
    return reasons;
  }

  /** By the lane, which all tasks of a need and kind of workflow share. */
  #placingOf({ id, workflow }: TaskView): Placing {
    const lane = this.#cluster.lanes.laneOf(
      this.#cluster.tasks.need(id),
      this.#cluster.workflow(workflow).rules.failFast,
    );
    const known = this.#placings.get(lane.id);
    if (known !== undefined) return known;
    const placing = new Placing(this.#cluster, lane, this.#outlook.now);
    this.#placings.set(lane.id, placing);
    return placing;
  }

  #initialWait(): Reason[] {
    const { initialWait } = this.#outlook;
    if (initialWait === undefined) return [];
    const workers = new Few<(typeof initialWait.workers)[number]>();
    for (const worker of initialWait.workers) workers.add(worker);
    return [{ kind: 'initial-wait', until: initialWait.until, workers }];
  }

  #refusals({ id, workflow: of }: TaskView): Reason[] {
    const { limits } = this.#cluster;
    const workflow = this.#cluster.workflow(of);
    return limits.refusalsOf(workflow, this.#cluster.needOf(id)).map((refusal) => this.#refused(id, workflow, refusal));
  }

  #refused(task: TaskId, workflow: WorkflowRecord, refusal: Refusal): Reason {
    const { id, concurrency, live, groupMax } = workflow;
    const { limits } = this.#cluster;
    switch (refusal.kind) {
      case 'workflow':
        return { kind: 'workflow-limit', workflow: id, max: concurrency?.workflow ?? 0, used: live };
      case 'group': {
        const { name: group } = refusal;
        const [max, used] = [groupMax.get(group) ?? 0, limits.usedOf(id, group)];
        return { kind: 'group-limit', workflow: id, group, max, used };
      }
      case 'cluster': {
        const { name } = refusal;
        const { max = 0, used } = limits.get(name);
        const asked = this.#cluster.needOf(task).limits?.[name] ?? 0;
        return { kind: 'limit', name, max, used, asked, holders: this.#holdersOf(name) };
      }
    }
  }

  #holdersOf(limit: string): Some<TaskId> {
    const known = this.#holders.get(limit);
    if (known !== undefined) return known;
    const holders = new Few<TaskId>();
    let looks = 0;
    for (const { task, state } of this.#cluster.attempts.values()) {
      if (++looks > whyLimits.attemptsMax) {
        holders.isCut = true;
        break;
      }
      if (state !== 'ended' && (this.#cluster.needOf(task).limits?.[limit] ?? 0) > 0) holders.add(task);
    }
    this.#holders.set(limit, holders);
    return holders;
  }

  #triaging({ id }: TaskView): Reason {
    const { suspended, suspects } = this.#cluster;
    if (suspended.has(id)) {
      for (const { id: worker, suspicion } of suspects) {
        if (suspicion === undefined || !suspicion.waiting.includes(id)) continue;
        return { kind: 'suspended', worker, trial: suspicion.trial, until: suspicion.until };
      }
    }
    return { kind: 'settling', what: 'triage' };
  }

  /** Of what its workflow is in; a join needs nothing but that its run has been made. */
  #workflowReasons({ workflow: of, kind }: TaskView): Reason[] {
    const workflow = this.#cluster.workflow(of);
    const reasons = reasonsOfWorkflow(workflow);
    return kind === 'command' || workflow.state === 'instantiating' ? reasons : [];
  }

  /** What runs may still end, or is being killed. */
  #halting(view: TaskView): Reason[] {
    return this.#workflowReasons(view).filter(({ kind }) => kind === 'workflow-halted');
  }
}

/** Why none of its tasks is launched. */
export function reasonsOfWorkflow(workflow: WorkflowRecord): Reason[] {
  const { id, state, stop, haltMode: mode, live } = workflow;
  const stopping: Reason[] = stop === undefined ? [] : [{ kind: 'workflow-stopping', workflow: id, stop }];
  switch (state) {
    case 'registering':
      return [registeringOf(workflow)];
    case 'queued':
    case 'instantiating':
    case 'launched':
      return [...stopping, { kind: 'workflow-starting', workflow: id, state }];
    case 'halting':
    case 'halted':
      return [...stopping, { kind: 'workflow-halted', workflow: id, state, mode, live }];
    default:
      return stopping;
  }
}

const registeringOf = ({ id: workflow, touchedAt }: WorkflowRecord): Reason => ({
  ...{ kind: 'registering', workflow, until: touchedAt + registrationIdleMs },
});

function held(
  { workflows }: { readonly workflows: ReadonlyMap<WorkflowId, WorkflowRecord> },
  view: TaskView,
): Reason[] {
  if (!view.held) return [];
  const isAfterLoss = workflows.get(view.workflow)?.rules.onLost === 'hold' && view.used.lost > 0;
  return [{ kind: 'held', isAfterLoss }];
}

const latest = ({ until, state }: TaskView): Reason[] =>
  until === Number.POSITIVE_INFINITY || isEndedTask(state) ? [] : [{ kind: 'latest-start', until }];

/** What settling does next with one that waits. */
function aboutToBe(cluster: Cluster, { id, pending, held: isHeld }: In<'waiting'>): Settling | undefined {
  // Whoever is doomed is on that list: where it is empty no edge has to be looked at.
  if (cluster.work.doomed.length > 0 && isDoomed(cluster, id)) return 'cancel';
  return pending === 0 && !isHeld ? 'release' : undefined;
}

/** A latest start is said after all that keeps it from being in time. */
const isLast = (one: Reason, other: Reason): number =>
  Number(one.kind === 'latest-start') - Number(other.kind === 'latest-start');

/** Why one task is not done. */
export const whyTask = (cluster: Cluster, task: TaskId, outlook: Outlook): TaskWhy =>
  new Analyst(cluster, outlook).why(task);
