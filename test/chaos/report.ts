/** The outcome of a round, for people. */
import type { Repetition } from './evidence.ts';
import type { Kill } from './herd.ts';
import { targets } from './monkey.ts';
import { phases } from './phase-log.ts';

export interface Round {
  readonly seed: number;
  readonly folder: string;
  readonly begunAt: number;
  readonly tookMs: number;
  readonly tasks: number;
  readonly acknowledged: number;
  /** Submissions whose answer was lost. */
  readonly unanswered: number;
  /** Results that a client saw during the run. */
  readonly shown: number;
  readonly kills: readonly Kill[];
  readonly repetitions: readonly Repetition[];
  readonly faults: readonly string[];
}

export function printRound(round: Round): string {
  const { seed, tookMs, tasks, acknowledged, unanswered, shown, kills, repetitions, faults, folder } = round;
  return [
    `seed ${seed}: ${faults.length === 0 ? 'passed' : 'FAILED'} in ${(tookMs / 1_000).toFixed(1)} s`,
    `${tasks} tasks, ${acknowledged} acknowledged submissions, ${unanswered} unanswered, ${shown} results seen under way`,
    '',
    ...killTable(kills),
    '',
    `commands run twice: ${repetitions.length}, for what befell their workers`,
    ...reasons(repetitions, round.begunAt),
    ...(faults.length === 0 ? [] : ['', `wrong (see ${folder}):`, ...faults.map((fault) => `  ${fault}`)]),
    '',
  ].join('\n');
}

function killTable(kills: readonly Kill[]): string[] {
  const columns = [...phases, ...(kills.some(({ phase }) => phase === 'starting') ? (['starting'] as const) : [])];
  const width = Math.max(...columns.map((name) => name.length)) + 2;
  const row = (name: string, cells: readonly (string | number)[]): string =>
    name.padEnd(24) + cells.map((cell) => String(cell).padStart(width)).join('');
  const count = (of: readonly Kill[]): number[] => [
    ...columns.map((phase) => of.filter((kill) => kill.phase === phase).length),
    of.length,
  ];
  return [
    row('killed \\ while it was', [...columns, 'all']),
    ...targets.map((target) => row(target, count(kills.filter((kill) => kill.target === target)))),
    row('all', count(kills)),
  ];
}

/** A line for each thing that befell a worker: when that was, and the attempts that began again for it. */
export function reasons(repetitions: readonly Repetition[], begunAt: number): string[] {
  const byReason = new Map<string, string[]>();
  for (const { task, attempt, worker, pid, cause } of repetitions.toSorted((a, b) => a.cause.at - b.cause.at)) {
    const seconds = ((cause.at - begunAt) / 1_000).toFixed(3);
    const reason = `at ${seconds} s, ${worker} (pid ${pid}), ${cause.what}:`;
    byReason.set(reason, [...(byReason.get(reason) ?? []), `${task}#${attempt}`]);
  }
  return [...byReason].map(([reason, attempts]) => `  ${reason} ${attempts.join(' ')}`);
}
