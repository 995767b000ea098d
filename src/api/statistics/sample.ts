/** Tasks that a filter lets through, counted in memory, and some of them with their last attempts. */
import type { ControllerShell } from '../../controller/shell.ts';
import { type EndKind, endKinds, Rates } from '../../controller/statistics/rates.ts';
import type { Statistics } from '../../controller/statistics/statistics.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Cluster } from '../../core/cluster.ts';
import type { WorkflowRecord } from '../../core/workflow/record.ts';
import type { TaskId } from '../../model/ids.ts';
import { queryLimits, statisticsLimits } from '../../model/limits.ts';
import { isEndedTask, isEndedWorkflow, type TaskState, taskStates } from '../../model/states.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import { breath } from '../query/breath.ts';
import { planFor } from '../query/planning.ts';
import { needsRows, type TaskPlan } from '../query/task-plan.ts';
import { lastAttempts, passing } from '../query/task-selection.ts';
import { walkAll } from '../query/walk-all.ts';
import { noStates, type StateCounts } from './render.ts';

const codes = new Map<TaskState, number>(taskStates.map((state, code) => [state, code]));
const countState = (counts: StateCounts, state: TaskState): void => {
  const code = codes.get(state) as number;
  counts[code] = (counts[code] as number) + 1;
};

/** How many commands of each group are in which state. */
export async function countStates(
  shell: ControllerShell,
  filter: Filter,
  groupsOf: (statistics: Statistics, task: TaskId) => readonly string[],
): Promise<Map<string, StateCounts>> {
  const { statistics } = shell.observations;
  const groups = new Map<string, StateCounts>();
  const countsOf = (name: string): StateCounts => {
    const counts = groups.get(name) ?? noStates();
    groups.set(name, counts);
    return counts;
  };
  // Neighbours are mostly of the same groups.
  let last: readonly string[] | undefined;
  let counted: readonly StateCounts[] = [];
  await walkAll(shell, await planFor(shell, filter), ({ tasks }, found) => {
    for (const task of found) {
      if (tasks.kind(task) !== 'command') continue;
      const names = groupsOf(statistics, task);
      if (names !== last) counted = names.map(countsOf);
      last = names;
      const state = tasks.state(task);
      for (const counts of counted) countState(counts, state);
    }
  });
  return groups;
}

/** Where commands stand, and how many of them are still to come. */
class Tally {
  readonly states = noStates();
  /** Commands that have not ended, of workflows that go on; whether something runs of one of these, and when the first was started. */
  remaining = 0;
  isMoving = false;
  startedAt = Number.POSITIVE_INFINITY;
  #workflow: WorkflowRecord | undefined;

  count({ tasks, workflows }: Cluster, task: TaskId): void {
    if (tasks.kind(task) !== 'command') return;
    const state = tasks.state(task);
    countState(this.states, state);
    if (isEndedTask(state)) return;
    const id = tasks.workflow(task);
    if (this.#workflow?.id !== id) this.#workflow = workflows.get(id);
    const workflow = this.#workflow;
    if (workflow === undefined || workflow.startedAt === 0 || isEndedWorkflow(workflow.state)) return;
    this.remaining++;
    this.isMoving ||= workflow.live > 0;
    this.startedAt = Math.min(this.startedAt, workflow.startedAt);
  }
}

export interface Sample {
  /** Of all that match, where memory decides that; else of those that were looked at and match. */
  readonly tally: Tally;
  readonly rows: readonly AttemptRow[];
  /** When those that were looked at ended, and how many of the tally each of them stands for. */
  readonly ends: Rates;
  readonly scale: number;
  readonly candidates: number;
  readonly looked: number;
  readonly matched: number;
}

export async function sampleTasks(shell: ControllerShell, filter: Filter): Promise<Sample> {
  const plan = await planFor(shell, filter);
  const chosen = new EvenChoice(statisticsLimits.sampleMax);
  const all = new Tally();
  await walkAll(shell, plan, (cluster, found) => {
    for (const task of found) {
      chosen.offer(task);
      all.count(cluster, task);
    }
  });
  const { tally, ...looked } = await look(shell, plan, chosen.tasks);
  const facts = { candidates: chosen.offered, looked: chosen.tasks.length, ...looked };
  if (needsRows(plan)) return { ...facts, tally, scale: 1 };
  return { ...facts, tally: all, scale: facts.looked === 0 ? 1 : facts.candidates / facts.looked };
}

/** In pieces, with others between them. */
async function look(
  shell: ControllerShell,
  plan: TaskPlan,
  chosen: readonly TaskId[],
): Promise<Pick<Sample, 'rows' | 'matched' | 'tally' | 'ends'>> {
  const tally = new Tally();
  const ends = new Rates();
  const rows: AttemptRow[] = [];
  let matched = 0;
  for (let from = 0; from < chosen.length; from += queryLimits.rowsAtOnce, await breath()) {
    const passed = await passing(shell, plan, chosen.slice(from, from + queryLimits.rowsAtOnce));
    matched += passed.length;
    const last = await lastAttempts(shell, passed);
    for (const row of last) if (row?.outcome !== undefined) rows.push(row);
    await shell.read((cluster) => {
      for (const [at, task] of passed.entries()) {
        tally.count(cluster, task);
        const state = cluster.tasks.state(task);
        const { outcome, endedAt = 0 } = last[at] ?? {};
        if (outcome !== undefined && isEndKind(state)) ends.add(endedAt, state, 1);
      }
    });
  }
  return { rows, matched, tally, ends };
}

const isEndKind = (state: TaskState): state is EndKind => (endKinds as readonly TaskState[]).includes(state);

/** Some of those that are offered, as many as it may have, at even distances. */
class EvenChoice {
  offered = 0;
  tasks: TaskId[] = [];
  readonly #most: number;
  #step = 1;

  constructor(most: number) {
    this.#most = most;
  }

  offer(task: TaskId): void {
    if (this.offered++ % this.#step !== 0) return;
    if (this.tasks.length === this.#most) {
      this.tasks = this.tasks.filter((_, at) => at % 2 === 0);
      this.#step *= 2;
      if ((this.offered - 1) % this.#step !== 0) return;
    }
    this.tasks.push(task);
  }
}
