/** Many workers over HTTP that want the same tasks, at a controller with a real store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { NodeOutputPacks } from '../../src/platform/node/output-packs.ts';
import type { ClaimView } from '../../src/protocol/http-worker.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { type Call, callsTo } from '../controller/http.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

const claimers = 200;
const tasks = 5_000;

let directory: string;
let controller: InProcessController;
let call: Call;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-claimers-'));
  const packs = new NodeOutputPacks(join(directory, 'output'));
  const remains = { disk: { open: () => openSqliteStore(directory) }, packs };
  controller = await startController({ hasWorker: false, remains });
  call = callsTo(controller.access);
});

afterEach(async () => {
  await controller.close();
  rmSync(directory, { recursive: true, force: true });
});

async function submit(count: number): Promise<string> {
  const { body } = await call('POST', 'workflows', { spec: { ...plainSpec, open: true } });
  for (let left = count; left > 0; left -= 1_000) {
    const batch = { tasks: Array.from({ length: Math.min(1_000, left) }, () => ({ command: 'x' })), edges: [] };
    await call('POST', `workflows/${body.id}/tasks`, batch);
  }
  await call('POST', `workflows/${body.id}/close`);
  return body.id;
}

/** How often each task was run, by whom does not matter. */
type Runs = Map<string, number>;

const ran = (runs: Runs, task: string): unknown => runs.set(task, (runs.get(task) ?? 0) + 1);

const end = (worker: string, task: string, attempt: number) =>
  call('PATCH', `tasks/${task}`, { state: 'terminated', execution_info: { worker, attempt, exit_status: 0 } });

async function takeNext(runs: Runs): Promise<void> {
  const worker: string = (await call('POST', 'workers', { name: 'w', slots: 3 })).body.id;
  for (let most = 1; ; most = 1 + (most % 3)) {
    const { claims } = (await call('POST', `workers/${worker}/claims`, { max: most })).body as { claims: ClaimView[] };
    if (claims.length === 0) return;
    for (const { task, number } of claims) {
      ran(runs, task);
      expect((await end(worker, task, number)).status).toBe(200);
    }
  }
}

/** All look at the same list, and most of them are too late. */
async function steal(runs: Runs, lost: { count: number }): Promise<void> {
  const worker: string = (await call('POST', 'workers', { name: 'w' })).body.id;
  for (;;) {
    const list = (await call('GET', 'tasks/available?limit=20&fields=id')).body.tasks as { id: string }[];
    if (list.length === 0) return;
    const { id } = list[Math.floor(Math.random() * list.length)] as { id: string };
    const claim = await call('PATCH', `tasks/${id}`, { state: 'running', execution_info: { worker } });
    if (claim.status === 409) {
      expect(claim.body.error.code).toBe('task-not-available');
      lost.count++;
      continue;
    }
    expect(claim.status).toBe(200);
    ran(runs, id);
    expect((await end(worker, id, claim.body.number)).status).toBe(200);
  }
}

async function mustHaveRunOnce(workflow: string, runs: Runs, count: number): Promise<void> {
  expect(runs.size).toBe(count);
  expect([...runs.values()].filter((times) => times !== 1)).toEqual([]);
  const { state, counts, attemptsEnded } = (await call('GET', `workflows/${workflow}`)).body;
  expect({ state, done: counts.done, attemptsEnded }).toEqual({ state: 'done', done: count, attemptsEnded: count });
}

it(`A21: ${claimers} claimers run each of ${tasks} tasks exactly once`, async () => {
  const workflow = await submit(tasks);
  const runs: Runs = new Map();
  await Promise.all(Array.from({ length: claimers }, () => takeNext(runs)));
  await mustHaveRunOnce(workflow, runs, tasks);
});

it('A21, A23: those who choose from the same list run each task once, and lose many a race', async () => {
  const count = 500;
  const workflow = await submit(count);
  const runs: Runs = new Map();
  const lost = { count: 0 };
  await Promise.all(Array.from({ length: 50 }, () => steal(runs, lost)));
  await mustHaveRunOnce(workflow, runs, count);
  expect(lost.count).toBeGreaterThan(0);
});
