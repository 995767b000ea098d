/** Puts the report of a workflow together from what a controller tells, page by page. */
import { pageRowsMax, reportLimits, statisticsLimits } from '../../model/limits.ts';
import { isEndedWorkflow } from '../../model/states.ts';
import { type Report, type ReportSlow, type ReportTask, reportKind, reportSchema } from '../../protocol/report.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import type { FailureList, StatisticsGroup, StatisticsView } from '../../protocol/views/statistics.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import type { Client } from '../../sdk/client.ts';
import { criticalPath } from './critical-path.ts';
import { startsOf, tasksOf } from './starts.ts';
import { AttemptTally, type Started, taskOf } from './tally.ts';
import { thinned } from './thinned.ts';
import { timelineOf } from './timeline.ts';
import { type Presence, presenceOf, reportWorkers } from './workers.ts';

/** What is asked of a controller, and no more. */
export type ReportSource = Pick<
  Client,
  | ('workflow' | 'statisticsOf' | 'failures' | 'server' | 'surroundings')
  | ('eachAttempt' | 'eachWorker' | 'eachEdge' | 'tasks' | 'executionInfo')
>;

export interface GatherOptions {
  readonly now: number;
  /** Of Drover. */
  readonly version: string;
}

const attemptFields = [
  ...[
    'id',
    'number',
    'worker',
    'host',
    'recordedAt',
    'startedAt',
    'endedAt',
    'outcome',
    'wallMs',
    'cpuMs',
    'peakBytes',
  ],
];

export async function gatherReport(source: ReportSource, id: string, { now, version }: GatherOptions): Promise<Report> {
  const workflow = await source.workflow(id);
  const tally = await tallied(source, id, now);
  const presence = await presenceOf(source, tally, now);
  const starts = await startsOf(source, workflow, tally);
  const timeline = timelineOf(tally, presence, starts);
  const { isPartial, groups = [], eta, rates: _, states, ...sum } = await statisticsOf(source, id);
  const { version: controller, apiVersion, versions, machine } = await source.server();
  const path = await pathOf(source, workflow, tally);
  const failures = shortened(await source.failures(id));
  const slowest = await slowestOf(source, tally);
  const retried = tally.retried.map(([task, attempts]) => ({ task, attempts }));
  const named = [
    ...(timeline?.bars ?? []).map(({ attempt }) => taskOf(attempt)),
    ...slowest.map(({ attempt }) => taskOf(attempt)),
    ...(path?.steps ?? []).map(({ attempt }) => taskOf(attempt)),
    ...retried.map(({ task }) => task),
  ];
  return {
    ...{ kind: reportKind, schema: reportSchema, madeAt: new Date(now).toISOString() },
    isLive: !isEndedWorkflow(workflow.state),
    workflow,
    surroundings: await source.surroundings(id),
    ...(machine === undefined ? {} : { machine }),
    versions: { drover: version, controller, api: apiVersion, ...versions },
    starts,
    attempts: attemptsOf(tally, presence),
    ...(timeline === undefined ? {} : { timeline }),
    isPartial,
    statistics: { name: id, states, ...withoutScope(sum) },
    ...(eta === undefined ? {} : { eta }),
    ...limited(groups),
    ...{ failures, slowest, retried },
    ...(path === undefined ? {} : { path }),
    ...reportWorkers(tally, presence),
    tasks: await tasksNamed(source, named),
  };
}

/** Where there is much to cut out of the time one has to look again: what is left has finer buckets then. */
async function tallied(source: ReportSource, id: string, now: number): Promise<AttemptTally> {
  const first = await walk(source, id, new AttemptTally(now));
  return first.idle.length === 0 ? first : walk(source, id, new AttemptTally(now, first.idle));
}

async function walk(source: ReportSource, id: string, tally: AttemptTally): Promise<AttemptTally> {
  const page = { where: `workflow=${id}`, limit: pageRowsMax, fields: attemptFields };
  for await (const one of source.eachAttempt(page)) tally.add(one);
  return tally;
}

const statisticsOf = (source: ReportSource, id: string): Promise<StatisticsView> =>
  source.statisticsOf(id, { by: 'template', waitMs: statisticsLimits.waitMsMax });

type Sum = Omit<StatisticsView, 'isPartial' | 'groups' | 'eta' | 'rates' | 'states'>;
const withoutScope = ({ workflow: _w, where: _, sample: _s, ...sum }: Sum): Omit<StatisticsGroup, 'name' | 'states'> =>
  sum;

/** One template that has no name tells nothing that the sum does not. */
function limited(groups: readonly StatisticsGroup[]): Pick<Report, 'templates' | 'templatesLeft'> {
  if (groups.every(({ name }) => name === '')) return { templates: [] };
  const left = groups.length - reportLimits.templatesMax;
  return { templates: groups.slice(0, reportLimits.templatesMax), ...(left > 0 ? { templatesLeft: left } : {}) };
}

function attemptsOf(tally: AttemptTally, presence: Presence): Report['attempts'] {
  const { total, retries, ends, busyMs, cpuMs, cpuKnownMs, peakBytes } = tally;
  return {
    ...{ total, retries, busyMs, cpuMs, cpuKnownMs, ends: [...ends] },
    ...(peakBytes === 0 ? {} : { peakBytes }),
    ...(presence.slotMs === 0 ? {} : { share: rounded(busyMs / presence.slotMs) }),
  };
}

const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Only where all attempts are known one by one, and there are not too many edges. */
async function pathOf(
  source: ReportSource,
  { id, counts }: WorkflowView,
  tally: AttemptTally,
): Promise<Report['path']> {
  if (tally.all === undefined || counts.total > reportLimits.pathEdgesMax) return undefined;
  const edges: EdgeSpec[] = [];
  for await (const edge of source.eachEdge(id, { limit: pageRowsMax })) {
    if (edges.length === reportLimits.pathEdgesMax) return undefined;
    edges.push(edge);
  }
  return criticalPath(tally.all, edges, tally.buckets?.originMs ?? 0);
}

/** Their commands may be long, and stand here as an example. */
function shortened({ groups, ...rest }: FailureList): FailureList {
  const most = reportLimits.commandCharactersMax.most;
  return {
    ...rest,
    groups: groups.map((group) => ({
      ...group,
      examples: group.examples.map(({ id, command }) =>
        command === undefined ? { id } : { id, command: beginningOf(command, most) },
      ),
    })),
  };
}

async function slowestOf(source: ReportSource, { slowest }: AttemptTally): Promise<ReportSlow[]> {
  const rows: ReportSlow[] = [];
  for (const one of slowest) rows.push(await slowOf(source, one));
  return rows;
}

async function slowOf(source: ReportSource, started: Started): Promise<ReportSlow> {
  const { attempt, host, startMs, endMs, tone, end, cpuMs, peakBytes } = started;
  const number = Number(attempt.split('#')[1]);
  const { memory_usage, cpu_utilization, gpu_usage } = await source.executionInfo(taskOf(attempt), number);
  return {
    ...{ attempt, host, startedAt: new Date(startMs).toISOString(), ms: endMs - startMs, tone },
    ...(end === undefined ? {} : { end }),
    ...(cpuMs === undefined ? {} : { cpuMs }),
    ...(peakBytes === undefined ? {} : { peakBytes }),
    ...(memory_usage.length < 2 ? {} : { memory: thinned(memory_usage, startMs, 'most') }),
    ...(cpu_utilization.length < 2 ? {} : { cpus: thinned(cpu_utilization, startMs, 'mean') }),
    ...(gpu_usage.length < 2 ? {} : { gpus: thinned(gpu_usage, startMs, 'mean') }),
  };
}

const taskFields = ['id', 'name', 'command', 'template', 'state'] as const;

/** The more there are, the less is told of each command. */
async function tasksNamed(source: ReportSource, ids: readonly string[]): Promise<Report['tasks']> {
  const wanted = [...new Set(ids)];
  const { all, least, most } = reportLimits.commandCharactersMax;
  const charactersMax = Math.min(most, Math.max(least, Math.floor(all / Math.max(1, wanted.length))));
  const found: Record<string, ReportTask> = {};
  for await (const { id, name, command, template, state } of tasksOf(source, wanted, taskFields)) {
    found[id] = {
      ...(name === undefined ? {} : { name }),
      ...(command === undefined ? {} : { command: beginningOf(command, charactersMax) }),
      ...(template === undefined ? {} : { template }),
      state,
    };
  }
  return found;
}

/** A pair of surrogates is not cut through. */
const beginningOf = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : `${text.slice(0, charactersMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
