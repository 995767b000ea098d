/** What many runs found, added up; and as text. */
import { frameFaultKinds, messageTypes, timedFaultKinds } from './faults.ts';
import type { RunResult } from './run.ts';
import { unreachable } from './unreachable.ts';

export interface Failure {
  readonly seed: number;
  readonly message: string;
}

export interface Summary {
  seeds: number;
  steps: number;
  simulatedMs: number;
  tasksStarted: number;
  restarts: number;
  /** Of the hashes of all runs, whatever their order. */
  hash: number;
  readonly faults: Record<string, number>;
  readonly cells: Record<string, number>;
  readonly failures: Failure[];
}

export const emptySummary = (): Summary => ({
  ...{ seeds: 0, steps: 0, simulatedMs: 0, tasksStarted: 0, restarts: 0, hash: 0 },
  ...{ faults: {}, cells: {}, failures: [] },
});

export function addRun(summary: Summary, run: RunResult): void {
  summary.seeds++;
  summary.steps += run.steps;
  summary.simulatedMs += run.simulatedMs;
  summary.tasksStarted += run.tasksStarted;
  summary.restarts += run.restarts;
  summary.hash = (summary.hash + Math.imul(Number.parseInt(run.hash, 16), run.seed * 2 + 1)) | 0;
  addCounts(summary.faults, run.faults);
  if (run.violation !== undefined) summary.failures.push({ seed: run.seed, message: run.violation.message });
}

export function addSummary(summary: Summary, part: Summary): void {
  summary.seeds += part.seeds;
  summary.steps += part.steps;
  summary.simulatedMs += part.simulatedMs;
  summary.tasksStarted += part.tasksStarted;
  summary.restarts += part.restarts;
  summary.hash = (summary.hash + part.hash) | 0;
  addCounts(summary.faults, part.faults);
  addCounts(summary.cells, part.cells);
  summary.failures.push(...part.failures);
}

function addCounts(to: Record<string, number>, from: Readonly<Record<string, number>>): void {
  for (const [key, count] of Object.entries(from)) to[key] = (to[key] ?? 0) + count;
}

export function render(summary: Summary): string {
  const { seeds, steps, simulatedMs, tasksStarted, restarts, hash, failures } = summary;
  const hours = simulatedMs / 3_600_000;
  return [
    `seeds            ${seeds}`,
    `steps            ${steps}`,
    `simulated hours  ${hours.toFixed(1)}`,
    `tasks started    ${tasksStarted}`,
    `controller restarts ${restarts}`,
    `replay hash      ${(hash >>> 0).toString(16).padStart(8, '0')}`,
    '',
    renderFaults(summary.faults),
    '',
    renderCells(summary.cells),
    '',
    `violations       ${failures.length}`,
    ...failures
      .sort((a, b) => a.seed - b.seed)
      .slice(0, 20)
      .map(({ seed, message }) => `  --seed ${seed}: ${(message.split('\n')[0] ?? '').slice(0, 200)}`),
  ].join('\n');
}

function renderFaults(faults: Readonly<Record<string, number>>): string {
  const width = Math.max(...messageTypes.map((type) => type.length));
  const columns = frameFaultKinds.map((kind) => kind.padStart(kind.length + 2));
  const rows = messageTypes.map((type) =>
    [type.padEnd(width), ...frameFaultKinds.map((kind, at) => cellOf(faults, kind, type, columns[at]))].join(''),
  );
  const timed = timedFaultKinds.map((kind) => {
    const total = Object.entries(faults).reduce((sum, [key, n]) => sum + (key.startsWith(`${kind} `) ? n : 0), 0);
    return `  ${kind.padEnd(20)}${total}`;
  });
  const head = ['faults by message', `${' '.repeat(width)}${columns.join('')}`];
  return [...head, ...rows, fewestOf(faults), 'faults by time', ...timed].join('\n');
}

/** Where more has to go wrong. */
function fewestOf(faults: Readonly<Record<string, number>>): string {
  const pairs = messageTypes.flatMap((type) => frameFaultKinds.map((kind) => `${kind} ${type}`));
  const fewest = Math.min(...pairs.map((pair) => faults[pair] ?? 0));
  return `  fewest: ${fewest} (${pairs.filter((pair) => (faults[pair] ?? 0) === fewest).join(', ')})`;
}

const cellOf = (faults: Readonly<Record<string, number>>, kind: string, type: string, column = ''): string =>
  String(faults[`${kind} ${type}`] ?? 0).padStart(column.length);

function renderCells(cells: Readonly<Record<string, number>>): string {
  const all = Object.keys(cells);
  const reached = all.filter((cell) => (cells[cell] ?? 0) > 0);
  const missed = all.filter((cell) => cells[cell] === 0 && !unreachable.some((pattern) => pattern.test(cell)));
  const wrong = reached.filter((cell) => unreachable.some((pattern) => pattern.test(cell)));
  return [
    `decision cells   ${reached.length} reached of ${reached.length + missed.length} that can be (${all.length} in all)`,
    ...(missed.length > 0 ? [`  not reached: ${missed.join(' ')}`] : []),
    ...(wrong.length > 0 ? [`  reached although listed as unreachable: ${wrong.join(' ')}`] : []),
  ].join('\n');
}
