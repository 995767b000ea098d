/** A workflow and a task as `drover show` prints them. */
import { defaultQueue } from '../../model/need.ts';
import { describeShortage } from '../../model/outcome.ts';
import { showAtLeastBytes, showBytes, showCount, showDuration } from '../../model/units.ts';
import type { Resources } from '../../protocol/spec.ts';
import type { AttemptView, OutcomeView } from '../../protocol/views/attempts.ts';
import type { ResourceRow } from '../../protocol/views/resources.ts';
import type { TaskDetail, TaskView } from '../../protocol/views/tasks.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import { renderTable } from './table.ts';
import { amount, barrierText, printable } from './text.ts';
import { showTime } from './time.ts';

/** Label and value; lines without a value are left out. */
type Facts = readonly (readonly [string, string | undefined])[];

function renderFacts(facts: Facts): string {
  return facts.map(([label, value]) => (value ? `${label.padEnd(9)} ${printable(value)}\n` : '')).join('');
}

export function renderWorkflow(view: WorkflowView): string {
  const { id, name, state, stop, run, counts, createdAt, startedAt, endedAt, durationMs } = view;
  const { total, done, failed, cancelled, running, pending } = counts;
  const amounts: readonly (readonly [number, string])[] = [
    [done, 'done'],
    [failed, 'failed'],
    [cancelled, 'cancelled'],
    [running, 'running'],
    [pending, 'waiting'],
  ];
  const parts = amounts.filter(([count]) => count > 0).map(([count, what]) => `${showCount(count)} ${what}`);
  return renderFacts([
    ['workflow', id],
    ['name', name],
    ['state', stop === undefined ? state : `${state}, stopping (${stop})`],
    ['tasks', [showCount(total), ...parts].join(', ')],
    ['run', run > 1 ? String(run) : undefined],
    ['created', showTime(createdAt)],
    ['started', startedAt && showTime(startedAt)],
    ['ended', endedAt && showTime(endedAt)],
    ['took', startedAt && showDuration(durationMs)],
  ]);
}

export function renderTasks(tasks: readonly TaskView[], maxColumns?: number): string {
  return renderTable(
    [
      { title: 'TASK' },
      { title: 'STATE' },
      { title: 'TRIES', align: 'right' },
      { title: 'LAST END' },
      { title: 'COMMAND' },
    ],
    tasks.map((task) => [
      task.id,
      describeState(task),
      task.attempts === 0 ? '' : String(task.attempts),
      task.outcome === undefined ? '' : describeOutcome(task.outcome),
      task.command ?? barrierText,
    ]),
    maxColumns,
  );
}

/** A task that had but one attempt did not run out of them: how it ended says all. */
function describeState({ state, reason, attempts, held, skipped }: TaskView): string {
  if (skipped !== undefined && state === 'done') return 'skipped';
  if (held) return `${state} (held)`;
  return reason === undefined || (reason === 'attempts' && attempts <= 1) ? state : `${state} (${reason})`;
}

/** `rows`: of its resources; `plots`: what its last attempt used over time. */
export function renderTask(task: TaskDetail, rows: readonly ResourceRow[] = [], plots = ''): string {
  const { id, name, command, cwd, notBefore, pendingDependencies, history } = task;
  const facts = renderFacts([
    ['task', id],
    ['name', name],
    ['command', command ?? '(barrier)'],
    ['cwd', command === undefined ? undefined : cwd],
    ['state', describeState(task)],
    ['skipped', task.skipped],
    ['held', task.held && `until 'drover retry ${id}'`],
    ['waits for', pendingDependencies ? amount(pendingDependencies, 'task') : undefined],
    ['not until', notBefore && showTime(notBefore)],
    ['resources', task.resources && describeResources(task.resources)],
    ...rows.flatMap((row) =>
      row.kind === 'adjusted' ? [['raised', `#${row.number}: ${row.why.join('; ')}`] as const] : [],
    ),
    ['lacks', task.shortfall?.why],
  ]);
  if (history.length === 0) return facts;
  const attempts = `${facts}\n${renderAttempts(history)}${plots && `\n${plots}`}`;
  if (history.every(({ startedAt }) => startedAt === undefined)) return attempts;
  return `${attempts}\noutput:   drover logs ${id}\n          drover logs ${id} --stderr\n`;
}

/** `2 cpus, 100 MB of memory, 10 min, queue big` */
export function describeResources(resources: Resources): string {
  const { cpus = 1, memoryBytes, gpus, runtimeMs, pools = {}, limits = {}, queue = defaultQueue } = resources;
  return [
    `${cpus} ${cpus === 1 ? 'cpu' : 'cpus'}`,
    ...(memoryBytes === undefined ? [] : [`${showAtLeastBytes(memoryBytes)} of memory`]),
    ...(gpus === undefined ? [] : [`${gpus} ${gpus === 1 ? 'gpu' : 'gpus'}`]),
    ...(runtimeMs === undefined ? [] : [`${showDuration(runtimeMs)} of time`]),
    ...Object.entries({ ...pools, ...limits }).map(([name, count]) => `${count} of ${name}`),
    ...(queue === defaultQueue ? [] : [`queue ${queue}`]),
  ].join(', ');
}

function renderAttempts(attempts: readonly AttemptView[]): string {
  return renderTable(
    [
      { title: 'ATTEMPT' },
      { title: 'END' },
      { title: 'STARTED' },
      { title: 'TOOK', align: 'right' },
      { title: 'CPU', align: 'right' },
      { title: 'MEMORY', align: 'right' },
      { title: 'WORKER' },
    ],
    attempts.map(({ id, state, outcome, signalledFor, startedAt, wallMs, cpuMs, peakBytes, worker, host }) => [
      id,
      outcome === undefined
        ? state
        : `${describeOutcome(outcome)}${signalledFor === undefined ? '' : ` (${signalledFor})`}`,
      startedAt === undefined ? '' : showTime(startedAt),
      wallMs === undefined ? '' : showDuration(wallMs),
      cpuMs === undefined ? '' : showDuration(cpuMs),
      peakBytes === undefined ? '' : showBytes(peakBytes),
      `${worker} on ${host}`,
    ]),
  );
}

/** `exit 1`, `signal 9`, `over its memory limit`, … */
export function describeOutcome({ kind, code, signal, resource, by, what, why, message }: OutcomeView): string {
  switch (kind) {
    case 'succeeded':
      return 'exit 0';
    case 'exited':
      return `exit ${code ?? '?'}`;
    case 'signalled':
      return `signal ${signal ?? '?'}`;
    case 'resource':
      return describeShortage(resource, by);
    case 'lost':
      return `${what ?? 'worker'} lost`;
    default:
      return [kind === 'never-started' ? 'not started' : kind, message ?? why].filter(Boolean).join(': ');
  }
}
