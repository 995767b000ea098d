/**
 * `npm run chaos`: the crash test at its full size, then the kills right after a submission.
 * `npm run chaos -- crash|submit --rounds N --seed N` runs one of the two, so often, from that seed on.
 * `npm run chaos -- network --rounds N --seed N --seconds N` cuts, stops and kills; --by namespaces|proxy chooses the network.
 */
import { parseArgs } from 'node:util';
import { crashRound } from './crash.ts';
import { networkKinds } from './network/network.ts';
import { printNetworkRound } from './network/report.ts';
import { networkRound } from './network/round.ts';
import { printRound } from './report.ts';
import { printSubmitKills, submitKills } from './submit-kill.ts';

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    seed: { type: 'string', default: process.env.CHAOS_SEED ?? String(Date.now() % 1_000_000) },
    tasks: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '150' },
    by: { type: 'string' },
  },
  allowPositionals: true,
});
const wanted = positionals.length === 0 ? ['crash', 'submit'] : positionals;
const first = Number(values.seed);
const tasks = Number(values.tasks);
const by = networkKinds.find((kind) => kind === values.by);
const batchSize = 25;
let faults = 0;

for (let seed = first; seed < first + Number(values.rounds); seed++) {
  if (wanted.includes('crash')) {
    const batches = Math.ceil(tasks / batchSize);
    const round = await crashRound({ seed, tasks, batches, times: Number(values.kills), everyPhase: true });
    faults += round.faults.length;
    process.stdout.write(`crash test, ${printRound(round)}\n`);
  }
  if (wanted.includes('submit')) {
    const kills = await submitKills({ seed, bySdk: 180, byCommand: 20 });
    faults += kills.faults.length;
    process.stdout.write(`submit and kill, ${printSubmitKills(kills)}\n`);
  }
  if (wanted.includes('network')) {
    // Some tasks outlast the loss of their worker by far: else no two attempts could meet.
    const size = { seconds: Number(values.seconds), msMax: 26_000, gapMsMax: 20_000, taskMsMax: 30_000 };
    const round = await networkRound({ seed, ...size, by });
    faults += round.faults.length;
    process.stdout.write(`network, ${printNetworkRound(round)}\n`);
  }
}
process.exitCode = faults === 0 ? 0 : 1;
