/**
 * `npm run followers`: how late lines are on the output of `drover logs -f`; then a task that prints 100 MB within 40 s, alone and
 * with 50 followers, in turn. `-- --followers N --megabytes N --seconds N --rounds N` changes the sizes, and no rounds leave
 * the second part out.
 */
import { parseArgs } from 'node:util';
import { delaysOf } from './delays.ts';
import { followersRound, type Round } from './round.ts';

const { values } = parseArgs({
  options: {
    followers: { type: 'string', default: '50' },
    megabytes: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '2' },
  },
});
/** What following may add, from the write to the reader. */
const delayMsMax = 300;
const linesOf = (perSecond: number) => ({ bytes: 256 * 20 * perSecond, ms: 20_000 });
let isInTime = true;
for (const [word, perSecond] of [
  ['ID.1', 30],
  ['ID', 30],
  ['ID.1', 2],
] as const) {
  const { delaysMs, ...found } = await delaysOf([word], linesOf(perSecond));
  isInTime &&= delaysMs.max <= delayMsMax;
  process.stdout.write(`${JSON.stringify({ command: `drover logs -f ${word}`, perSecond, ...found, delaysMs })}\n`);
}
const size = { bytes: Number(values.megabytes) * 1_000_000, ms: Number(values.seconds) * 1_000 };
const rounds: { readonly alone: Round; readonly followed: Round }[] = [];
for (let count = 0; count < Number(values.rounds); count++) {
  const alone = await followersRound({ ...size, followers: 0 });
  const followed = await followersRound({ ...size, followers: Number(values.followers) });
  rounds.push({ alone, followed });
  process.stdout.write(`${JSON.stringify({ alone, followed })}\n`);
}
const mean = (pick: (round: (typeof rounds)[number]) => number): number =>
  rounds.reduce((sum, round) => sum + pick(round), 0) / rounds.length;
const slower = mean(({ followed }) => followed.wallMs) / mean(({ alone }) => alone.wallMs) - 1;
const wrong = rounds.reduce((sum, { followed }) => sum + followed.wrong, 0);
if (rounds.length > 0)
  process.stdout.write(`the task took ${(100 * slower).toFixed(1)} % longer; ${wrong} followers lost bytes\n`);
const isFree = rounds.length === 0 || slower <= 0.05;
process.exitCode = isInTime && isFree && wrong === 0 ? 0 : 1;
