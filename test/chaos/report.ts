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
    `commands run twice: ${repetitions.length}`,
    ...repetitions.map((repetition) => `  ${reasonOf(repetition, round.begunAt)}`),
    ...(faults.length === 0 ? [] : ['', `wrong (see ${folder}):`, ...faults.map((fault) => `  ${fault}`)]),
    '',
  ].join('\n');
}

function killTable(kills: readonly Kill[]): string[] {
  const columns = [...phases, ...(kills.some(({ phase }) => phase === 'silent') ? (['silent'] as const) : [])];
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

function reasonOf({ task, attempt, worker, pid, kill }: Repetition, begunAt: number): string {
  const seconds = ((kill.at - begunAt) / 1_000).toFixed(3);
  return `${task} attempt ${attempt}: ${worker} (pid ${pid}) had its ${kill.target} killed at ${seconds} s, ${kill.phase}`;
}
