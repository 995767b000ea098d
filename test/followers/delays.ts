/** How late the lines of a task are on the output of `drover logs -f`: from the task's write to the reader of the command. */
import { createInterface } from 'node:readline';
import type { Running } from '../program/drover.ts';
import { type Quantiles, quantilesOf } from './quantiles.ts';
import { followedTask, type RoundOptions } from './task.ts';

export interface Delays {
  readonly lines: number;
  readonly delaysMs: Quantiles;
}

/** `words`: how the command names the task, of which `ID` is the workflow. */
export async function delaysOf(words: readonly string[], size: Omit<RoundOptions, 'followers'>): Promise<Delays> {
  return followedTask(size, async ({ id, start, untilEnded }) => {
    const delays: number[] = [];
    const following: Running = start(['logs', '-f', ...words.map((word) => word.replace('ID', id))]);
    createInterface({ input: following.child.stdout ?? process.stdin }).on('line', (line) => {
      // Of many tasks each line has the name of its task in front.
      const written = Number.parseInt(line.replace(/^w\S+ \| /, ''), 10);
      delays.push(Date.now() - written);
    });
    await untilEnded();
    await following.ended;
    // What was written before the command followed is as late as its start was.
    const followed = delays.slice(Math.floor(delays.length / 4));
    return { lines: followed.length, delaysMs: quantilesOf(followed) };
  });
}
