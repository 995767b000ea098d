/** One round of the crash test: tasks are submitted and run while the monkey kills; then everything is counted. */
import { isEndedWorkflow } from '../../src/model/states.ts';
import { Chance } from './chance.ts';
import { Definer } from './definer.ts';
import { judge } from './evidence.ts';
import { aliveIn, Herd } from './herd.ts';
import { Ledger } from './ledger.ts';
import { Monkey } from './monkey.ts';
import { listWorkflows, readRecords } from './records.ts';
import type { Round } from './report.ts';

export interface RoundOptions {
  readonly seed: number;
  readonly tasks: number;
  readonly batches: number;
  /** Kills per target. */
  readonly times: number;
  /** Whether every phase has to be hit. */
  readonly everyPhase: boolean;
}

const workers = 2;
const slots = 4;
const leeway = 0.06;
const lookEveryMs = 300;
const waitMsMax = 180_000;

export async function crashRound(options: RoundOptions): Promise<Round> {
  const herd = new Herd(slots);
  try {
    return await roundWith(herd, options);
  } catch (error) {
    herd.abandon();
    throw new Error(`seed ${options.seed}, see ${herd.folder}`, { cause: error });
  }
}

async function roundWith(herd: Herd, options: RoundOptions): Promise<Round> {
  const { seed, tasks, batches, times, everyPhase } = options;
  const begunAt = Date.now();
  const ledger = new Ledger(herd.folder);
  // Neither gets far ahead of the other, so that there is always something to interrupt.
  const monkey: Monkey = new Monkey(herd, new Chance(seed), {
    ...{ times, everyPhase, pace: () => definer.progress + leeway },
  });
  const definer: Definer = new Definer(herd, ledger, new Chance(seed + 1), {
    ...{ tasks, batches },
    pace: () => monkey.progress + (monkey.aim === 'submitting' ? 1 : leeway),
  });
  const shown = new Map<string, number>();
  await herd.start(workers);
  let isOver = false;
  const looking = look(herd, shown, new Chance(seed + 2), () => isOver);
  await Promise.all([monkey.run(), definer.submitAll()]);
  herd.faults.push(...monkey.missed.map((phase) => `no kill hit it ${phase}`));
  herd.faults.push(...(await waitForAll(herd, definer)));
  isOver = true;
  await looking;
  const verdict = await verdictOf(herd, { definer, ledger, shown });
  return {
    ...{ seed, folder: herd.folder, begunAt, tookMs: Date.now() - begunAt, tasks, shown: shown.size },
    acknowledged: definer.acknowledged.length,
    unanswered: definer.submissions.length - definer.acknowledged.length,
    kills: herd.kills,
    repetitions: verdict.repetitions,
    faults: [...herd.faults, ...verdict.faults],
  };
}

/** By the real command for what was acknowledged; what was not, and is there, has to end as well. */
async function waitForAll(herd: Herd, definer: Definer): Promise<string[]> {
  const ids = definer.acknowledged.map(({ id }) => id ?? '');
  const waiting = herd.begin(['wait', '--quiet', ...ids]);
  const timer = setTimeout(() => waiting.child.kill('SIGKILL'), waitMsMax);
  const { code, stderr } = await waiting.ended;
  clearTimeout(timer);
  if (code !== 0) return [`drover wait ended with ${code}: ${stderr}`];
  const client = herd.client();
  for (const deadline = Date.now() + waitMsMax; client !== undefined && Date.now() < deadline; await pause(100)) {
    const isOver = (await listWorkflows(client)).every(
      ({ state }) => state === 'registering' || isEndedWorkflow(state),
    );
    if (isOver) return [];
  }
  return ['what was not acknowledged does not end'];
}

/** A client that looks at results while everything crashes around it: what it was shown must stay true. */
async function look(herd: Herd, shown: Map<string, number>, chance: Chance, isOver: () => boolean): Promise<void> {
  for (; !isOver(); await pause(lookEveryMs)) {
    try {
      const client = herd.client();
      const { workflows = [] } = (await client?.workflows({ limit: 10 })) ?? {};
      const begun = workflows.filter(({ counts }) => counts.done > 0);
      if (client === undefined || begun.length === 0) continue;
      const { tasks } = await client.tasks(chance.pick(begun).id, { states: ['done'], limit: 1_000 });
      for (const { id, attempts } of tasks) shown.set(id, attempts);
    } catch {
      // The controller was killed: nothing was shown.
    }
  }
}

interface Watched {
  readonly definer: Definer;
  readonly ledger: Ledger;
  readonly shown: ReadonlyMap<string, number>;
}

async function verdictOf(herd: Herd, { definer, ledger, shown }: Watched): Promise<ReturnType<typeof judge>> {
  const leftTasks = aliveIn(herd.folder, 'tasks').map((process) => `a task is alive at the end: ${process}`);
  const client = herd.client();
  if (client === undefined) throw new Error(`no controller at the end in ${herd.folder}`);
  const records = await readRecords(client, herd.folder);
  await herd.stop();
  const left = aliveIn(herd.folder, 'all').map((process) => `alive after the stop: ${process}`);
  const { submissions } = definer;
  const verdict = judge({ submissions, shown, records, ledger, entries: ledger.read(), kills: herd.kills });
  const faults = [...leftTasks, ...left, ...verdict.faults];
  if (faults.length === 0 && herd.faults.length === 0) herd.remove();
  return { ...verdict, faults };
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
