/** Statistics of all workflows, of some, or of the tasks that a filter lets through. */
import type { ControllerShell } from '../../controller/shell.ts';
import { Cell } from '../../controller/statistics/cell.ts';
import { Rates, type RingName, rings } from '../../controller/statistics/rates.ts';
import type { WorkflowCells } from '../../controller/statistics/workflow-cells.ts';
import type { Cluster } from '../../core/cluster.ts';
import type { WorkflowRecord } from '../../core/workflow/record.ts';
import { printWorkflow, type WorkflowId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { isEndedTask, isEndedWorkflow, taskStates } from '../../model/states.ts';
import { taskFields } from '../../protocol/filter/fields.ts';
import { type Filter, parseFilter } from '../../protocol/filter/language.ts';
import type { EtaView, StatisticsGroup, StatisticsView } from '../../protocol/views/statistics.ts';
import { optional } from '../render.ts';
import { type Grouping, groupingBy } from './grouping.ts';
import { noStates, renderCell, renderEta, renderRates, renderStates, type StateCounts } from './render.ts';
import { countStates, sampleTasks } from './sample.ts';

export interface StatisticsQuery {
  /** What of tasks is looked at; without a clause, all. */
  readonly filter: Filter;
  readonly by: string | undefined;
  readonly interval: RingName | undefined;
  /** How long to wait for what is being read after a restart. */
  readonly waitMs: number;
}

type Content = Omit<StatisticsView, 'workflow' | 'where' | 'isPartial'>;

export async function statisticsOf(
  shell: ControllerShell,
  { filter, by, interval, waitMs }: StatisticsQuery,
): Promise<Omit<StatisticsView, 'workflow' | 'where'>> {
  await shell.observations.whole(shell.now() + waitMs);
  const grouping = by === undefined ? undefined : groupingBy(by);
  const workflows = await shell.read((cluster) => indexedScope(shell, cluster, filter));
  const content =
    workflows === undefined
      ? await ofSample(shell, filter, grouping, interval)
      : await ofWorkflows(shell, workflows, grouping, interval);
  return { isPartial: !shell.observations.isWhole, ...content };
}

/** The workflows that the filter names, if it has no other clause and cells of all of them are kept; 'all' without a clause. */
function indexedScope(
  { observations: { statistics } }: ControllerShell,
  { workflows }: Cluster,
  filter: Filter,
): 'all' | WorkflowId[] | undefined {
  if (filter.length === 0) return 'all';
  if (filter.some(({ field, operator }) => field.name !== 'workflow' || operator !== '=')) return undefined;
  const [first = [], ...more] = filter.map(({ values }) => values as WorkflowId[]);
  const named = [...new Set(first)].filter((id) => workflows.has(id) && more.every((ids) => ids.includes(id)));
  return named.some((id) => statistics.isForgotten(id)) ? undefined : named;
}

async function ofWorkflows(
  shell: ControllerShell,
  scope: 'all' | readonly WorkflowId[],
  grouping: Grouping | undefined,
  interval: RingName | undefined,
): Promise<Content> {
  const { statistics } = shell.observations;
  const content = await shell.read((cluster, now) => {
    const ids = scope === 'all' ? [...cluster.workflows.keys()] : scope;
    const records = ids.flatMap((id) => cluster.workflows.get(id) ?? []);
    const cells =
      scope === 'all'
        ? [...statistics.workflows.values(), statistics.forgotten]
        : ids.flatMap((id) => statistics.workflows.get(id) ?? []);
    const sum = new Cell();
    for (const one of cells) sum.addAll(one.sum());
    const rates = scope === 'all' ? statistics.rates : sumOfRates(cells);
    const startedAt = records.reduce((first, one) => (one.startedAt > 0 ? Math.min(first, one.startedAt) : first), now);
    return {
      states: renderStates(statesOf(records)),
      ...renderCell(sum),
      rates: renderRates(rates.series(interval ?? fittingRing(now - startedAt), now)),
      ...optional('eta', etaOf(records, rates, now)),
      ...optional('groups', grouping === undefined ? undefined : groupsOf(cells, grouping, cluster)),
    };
  });
  const { groups } = content;
  if (groups === undefined || grouping?.ofTask === undefined) return content;
  const where = scope === 'all' ? '' : `workflow=${scope.map(printWorkflow).join(',')}`;
  const isEmpty = scope !== 'all' && scope.length === 0;
  const states = isEmpty ? new Map() : await countStates(shell, parseFilter(where, taskFields, 0), grouping.ofTask);
  return { ...content, groups: withStates(groups, states) };
}

function sumOfRates(cells: readonly WorkflowCells[]): Rates {
  const [only, ...more] = cells;
  if (only !== undefined && more.length === 0) return only.rates;
  const sum = new Rates();
  for (const { rates } of cells) sum.addAll(rates);
  return sum;
}

/** The finest that goes back so far. */
const fittingRing = (ms: number): RingName =>
  (rings.find(({ intervalMs, intervals }) => intervalMs * intervals >= ms) ?? rings[rings.length - 1] ?? rings[0]).name;

function statesOf(records: readonly WorkflowRecord[]): StateCounts {
  const counts = noStates();
  for (const record of records) {
    taskStates.forEach((state, code) => {
      counts[code] = (counts[code] as number) + record.countOfCommands(state);
    });
  }
  return counts;
}

/** Of workflows that go on; none where nothing runs: what is left waits, and for how long, how fast it went does not tell. */
function etaOf(records: readonly WorkflowRecord[], rates: Rates, now: number): EtaView | undefined {
  const goingOn = records.filter(({ state, startedAt }) => startedAt > 0 && !isEndedWorkflow(state));
  if (goingOn.every(({ live }) => live === 0)) return undefined;
  let remaining = 0;
  for (const record of goingOn) {
    for (const state of taskStates) if (!isEndedTask(state)) remaining += record.countOfCommands(state);
  }
  const from = goingOn.reduce((first, { startedAt }) => Math.min(first, startedAt), now);
  return renderEta(remaining, remaining === 0 ? undefined : rates.perSecond(now, from), now);
}

function groupsOf(all: readonly WorkflowCells[], grouping: Grouping, cluster: Cluster): StatisticsGroup[] {
  const groups = new Map<string, Cell>();
  for (const cells of all) {
    for (const [name, cell] of grouping.cellsOf(cells, cluster)) {
      const sum = groups.get(name) ?? new Cell();
      groups.set(name, sum);
      sum.addAll(cell);
    }
  }
  return renderGroups(groups);
}

const endedOf = ({ outcomes }: Pick<StatisticsGroup, 'outcomes'>): number =>
  Object.values(outcomes).reduce((sum, count) => sum + count, 0);

function renderGroups(groups: ReadonlyMap<string, Cell>): StatisticsGroup[] {
  return [...groups]
    .map(([name, cell]) => ({ name, ...renderCell(cell) }))
    .sort((a, b) => endedOf(b) - endedOf(a) || (a.name < b.name ? -1 : 1))
    .slice(0, statisticsLimits.groupsMax);
}

/** Groups of which nothing has ended yet are groups, too. */
function withStates(groups: readonly StatisticsGroup[], states: ReadonlyMap<string, StateCounts>): StatisticsGroup[] {
  const known = new Set(groups.map(({ name }) => name));
  const waiting = [...states.keys()].filter((name) => !known.has(name)).sort();
  const all = [...groups, ...waiting.map((name) => ({ name, ...renderCell(new Cell()) }))];
  return all
    .map((group) => ({ ...group, states: renderStates(states.get(group.name) ?? noStates()) }))
    .filter(({ states: of, ...group }) => Object.keys(of).length > 0 || endedOf(group) > 0)
    .slice(0, statisticsLimits.groupsMax);
}

/** A look at memory, and at the last attempts of some of the tasks that match. */
async function ofSample(
  shell: ControllerShell,
  filter: Filter,
  grouping: Grouping | undefined,
  interval: RingName | undefined,
): Promise<Content> {
  const { statistics } = shell.observations;
  const { tally, rows, ends, scale, ...sample } = await sampleTasks(shell, filter);
  return shell.read((cluster, now) => {
    const sum = new Cell();
    const groups = new Map<string, Cell>();
    for (const row of rows) {
      const { end, buckets, place } = statistics.measure(row);
      sum.add(end, buckets);
      if (grouping === undefined) continue;
      for (const name of grouping.groupsOf(place, cluster)) {
        const cell = groups.get(name) ?? new Cell();
        groups.set(name, cell);
        cell.add(end, buckets);
      }
    }
    const firstEnd = rows.reduce((first, { endedAt }) => Math.min(first, endedAt), now);
    const perSecond = !tally.isMoving ? undefined : ends.perSecond(now, Math.min(now, tally.startedAt));
    return {
      sample,
      states: renderStates(tally.states),
      ...renderCell(sum),
      rates: renderRates(ends.series(interval ?? fittingRing(now - firstEnd), now), scale),
      ...optional('eta', renderEta(tally.remaining, perSecond && perSecond * scale, now)),
      ...optional('groups', grouping === undefined ? undefined : renderGroups(groups)),
    };
  });
}
