/**
 * `npm run followers`: a task that prints 100 MB within 40 s, alone and with 50 followers, in turn.
 * `-- --followers N --megabytes N --seconds N --rounds N` changes the sizes.
 */
import { parseArgs } from 'node:util';
import { followersRound, type Round } from './round.ts';

const { values } = parseArgs({
  options: {
    followers: { type: 'string', default: '50' },
    megabytes: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '2' },
  },
});
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
process.stdout.write(`the task took ${(100 * slower).toFixed(1)} % longer; ${wrong} followers lost bytes\n`);
process.exitCode = slower <= 0.05 && wrong === 0 ? 0 : 1;
