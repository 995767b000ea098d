/**
 * `npm run sampling`: what it costs a spawner to look at 100 running tasks, as single processes and as shells with
 * children, by its own CPU time beyond that of a spawner with the same tasks that does not look.
 * `-- --tasks N --seconds N` changes the sizes.
 */
import { parseArgs } from 'node:util';
import { type Kind, kinds, samplingCost } from './cost.ts';

/** Of one processor, at 100 tasks. */
const SHARE_MAX = 0.01;

const { values } = parseArgs({
  options: { tasks: { type: 'string', default: '100' }, seconds: { type: 'string', default: '60' } },
});
const [tasks, seconds] = [Number(values.tasks), Number(values.seconds)];
const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
const shares: number[] = [];
for (const kind of Object.keys(kinds) as Kind[]) {
  const { looking, idle, processes } = await samplingCost({ kind, tasks, ms: seconds * 1_000 });
  const share = looking - idle;
  shares.push(share);
  const spent = `${percent(looking)} looking, ${percent(idle)} idle, so ${percent(share)} of a processor for it`;
  process.stdout.write(`${tasks} tasks, ${kind}, ${processes} processes, ${seconds} s: ${spent}\n`);
}
const isMet = shares.every((share) => share <= SHARE_MAX * (tasks / 100));
process.stdout.write(`at most ${percent(SHARE_MAX)} for 100 tasks: ${isMet ? 'met' : 'not met'}\n`);
process.exitCode = isMet ? 0 : 1;
