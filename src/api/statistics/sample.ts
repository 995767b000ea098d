/** Tasks that a filter lets through, counted in memory, and some of them with their last attempts. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { Statistics } from '../../controller/statistics/statistics.ts';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Cluster } from '../../core/cluster.ts';
import type { TaskId } from '../../model/ids.ts';
import { queryLimits, statisticsLimits } from '../../model/limits.ts';
import { type TaskState, taskStates } from '../../model/states.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import { breath } from '../query/breath.ts';
import { planFor } from '../query/planning.ts';
import { needsRows, type TaskPlan } from '../query/task-plan.ts';
import { lastAttempts, passing } from '../query/task-selection.ts';
import { walkTasks } from '../query/task-walk.ts';
import { noStates, type StateCounts } from './render.ts';

const codes = new Map<TaskState, number>(taskStates.map((state, code) => [state, code]));
const countState = (counts: StateCounts, state: TaskState): void => {
  const code = codes.get(state) as number;
  counts[code] = (counts[code] as number) + 1;
};

/** How many tasks of each group are in which state. */
export async function countStates(
  shell: ControllerShell,
  filter: Filter,
  groupOf: (statistics: Statistics, task: TaskId) => string,
): Promise<Map<string, StateCounts>> {
  const { statistics } = shell.observations;
  const groups = new Map<string, StateCounts>();
  // Neighbours are mostly of the same group.
  let last: { readonly name: string; readonly counts: StateCounts } | undefined;
  await walkAll(shell, await planFor(shell, filter), ({ tasks }, found) => {
    for (const task of found) {
      const name = groupOf(statistics, task);
      if (last?.name !== name) {
        last = { name, counts: groups.get(name) ?? noStates() };
        groups.set(name, last.counts);
      }
      countState(last.counts, tasks.state(task));
    }
  });
  return groups;
}

export interface Sample {
  /** Of all that match, where memory decides that; else of those that were looked at and match. */
  readonly states: StateCounts;
  readonly rows: readonly AttemptRow[];
  readonly candidates: number;
  readonly looked: number;
  readonly matched: number;
}

export async function sampleTasks(shell: ControllerShell, filter: Filter): Promise<Sample> {
  const plan = await planFor(shell, filter);
  const chosen = new EvenChoice(statisticsLimits.sampleMax);
  const all = noStates();
  await walkAll(shell, plan, ({ tasks }, found) => {
    for (const task of found) {
      chosen.offer(task);
      countState(all, tasks.state(task));
    }
  });
  const { rows, matched, states } = await look(shell, plan, chosen.tasks);
  const facts = { candidates: chosen.offered, looked: chosen.tasks.length, matched };
  return { states: needsRows(plan) ? states : all, rows, ...facts };
}

/** In pieces, with others between them. */
async function look(
  shell: ControllerShell,
  plan: TaskPlan,
  chosen: readonly TaskId[],
): Promise<{ readonly rows: AttemptRow[]; readonly matched: number; readonly states: StateCounts }> {
  const states = noStates();
  const rows: AttemptRow[] = [];
  let matched = 0;
  for (let from = 0; from < chosen.length; from += queryLimits.rowsAtOnce, await breath()) {
    const passed = await passing(shell, plan, chosen.slice(from, from + queryLimits.rowsAtOnce));
    matched += passed.length;
    for (const row of await lastAttempts(shell, passed)) if (row?.outcome !== undefined) rows.push(row);
    await shell.read(({ tasks }) => {
      for (const task of passed) countState(states, tasks.state(task));
    });
  }
  return { rows, matched, states };
}

async function walkAll(
  shell: ControllerShell,
  plan: TaskPlan,
  take: (cluster: Cluster, found: readonly TaskId[]) => void,
): Promise<void> {
  for (let after: number | undefined; ; await breath()) {
    const reached = await shell.read((cluster) => {
      const walk = {
        after,
        isDescending: false,
        foundMax: Number.POSITIVE_INFINITY,
        looksMax: queryLimits.tasksAtOnce,
      };
      const walked = walkTasks(plan, cluster, walk);
      take(cluster, walked.found);
      return walked.reached;
    });
    if (reached === undefined) return;
    after = reached;
  }
}

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
