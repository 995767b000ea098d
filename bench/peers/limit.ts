/** The limit: a bare loop in C that starts the same processes, and does nothing else (bench/limit/limit.c). */
import type { Contender } from '../row.ts';
import { compiled, missingCompiler } from '../tools.ts';

export interface LimitWork {
  readonly n: number;
  readonly slots: number;
  readonly words: readonly string[];
}

export const limit = ({ n, slots, words }: LimitWork): Contender => ({
  name: 'limit',
  note: 'posix_spawn loop in C',
  missing: missingCompiler,
  async measure(workshop) {
    const program = await compiled(workshop, 'limit');
    const folder = workshop.scratch();
    const { seconds } = await workshop.run(program, [String(n), String(slots), folder, ...words]);
    workshop.discard(folder);
    return { rate: n / seconds, seconds };
  },
});
