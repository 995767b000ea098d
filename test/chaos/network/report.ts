/** The outcome of a round of trouble, for people. */
import { reasons } from '../report.ts';
import type { NetworkRound } from './round.ts';
import type { Trouble } from './troubles.ts';

export function printNetworkRound(round: NetworkRound): string {
  const { seed, by, tookMs, tasks, attempts, acknowledged, unanswered, troubles, longest } = round;
  const { repetitions, excused, faults, folder, begunAt, recoveries, endedAfterMs } = round;
  const repeated = new Set(repetitions.map(({ task }) => task)).size;
  return [
    `seed ${seed}, by ${by}: ${faults.length === 0 ? 'passed' : 'FAILED'} in ${secondsOf(tookMs)} s`,
    `${tasks} tasks, ${attempts} attempts, ${acknowledged} acknowledged submissions, ${unanswered} unanswered`,
    '',
    ...troubleTable(troubles),
    '',
    `${recoveries} times well again${longest === undefined ? '' : `, at the latest ${secondsOf(longest.ms)} s after '${longest.after}'`}`,
    `everything had ended ${secondsOf(endedAfterMs)} s after the last trouble`,
    `tasks run again: ${repeated}, for what befell their workers`,
    ...reasons(repetitions, begunAt),
    `overlaps where worker and spawner were stopped, and nobody could kill: ${excused.length}`,
    ...excused.map((text) => `  ${text}`),
    ...(faults.length === 0 ? [] : ['', `wrong (see ${folder}):`, ...faults.map((fault) => `  ${fault}`)]),
    '',
  ].join('\n');
}

function troubleTable(troubles: readonly Trouble[]): string[] {
  const kinds = [...new Set(troubles.map(({ kind }) => kind))].sort();
  const row = (name: string, of: readonly Trouble[]): string => {
    const lasted = of.map(({ from, to }) => to - from);
    const cells = [of.length, secondsOf(Math.min(...lasted)), secondsOf(Math.max(...lasted))];
    return name.padEnd(30) + cells.map((cell) => String(cell).padStart(12)).join('');
  };
  return [
    `${'trouble'.padEnd(30)}${['times', 'shortest s', 'longest s'].map((title) => title.padStart(12)).join('')}`,
    ...kinds.map((kind) =>
      row(
        kind,
        troubles.filter((each) => each.kind === kind),
      ),
    ),
    row('all', troubles),
  ];
}

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(2);
