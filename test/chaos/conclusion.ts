/** How a round ends: looks at results while it lasts, waits until all is done, then counts. */
import { isEndedWorkflow } from '../../src/model/states.ts';
import type { Causes } from './causes.ts';
import type { Chance } from './chance.ts';
import type { Definer } from './definer.ts';
import { judge, type Verdict } from './evidence.ts';
import { aliveIn, type Herd } from './herd.ts';
import type { Ledger } from './ledger.ts';
import { listWorkflows, readRecords } from './records.ts';

const lookEveryMs = 300;
const waitMsMax = 180_000;

/** By the real command for what was acknowledged; what was not, and is there, has to end as well. */
export async function waitForAll(herd: Herd, definer: Definer): Promise<string[]> {
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
export async function look(
  herd: Herd,
  shown: Map<string, number>,
  chance: Chance,
  isOver: () => boolean,
): Promise<void> {
  for (; !isOver(); await pause(lookEveryMs)) {
    try {
      const client = herd.client();
      const { workflows = [] } = (await client?.workflows({ limit: 10 })) ?? {};
      const begun = workflows.filter(({ counts }) => counts.done > 0);
      if (client === undefined || begun.length === 0) continue;
      const { tasks } = await client.tasksOf(chance.pick(begun).id, { where: 'state=done', limit: 1_000 });
      for (const { id, attempts } of tasks) shown.set(id, attempts);
    } catch {
      // The controller was killed: nothing was shown.
    }
  }
}

export interface Watched {
  readonly definer: Definer;
  readonly ledger: Ledger;
  readonly shown: ReadonlyMap<string, number>;
  readonly causes: Causes;
}

export async function verdictOf(herd: Herd, { definer, ledger, shown, causes }: Watched): Promise<Verdict> {
  const leftTasks = aliveIn(herd.folder, 'tasks').map((process) => `a task is alive at the end: ${process}`);
  const client = herd.client();
  if (client === undefined) throw new Error(`no controller at the end in ${herd.folder}`);
  const records = await readRecords(client, herd.folder);
  await herd.stop();
  const left = aliveIn(herd.folder, 'all').map((process) => `alive after the stop: ${process}`);
  const { submissions } = definer;
  const verdict = judge({ submissions, shown, records, ledger, entries: ledger.read(), causes });
  const faults = [...leftTasks, ...left, ...verdict.faults];
  if (faults.length === 0 && herd.faults.length === 0) herd.remove();
  return { ...verdict, faults };
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
