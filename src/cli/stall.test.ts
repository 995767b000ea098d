import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import type { TaskSpec } from '../protocol/spec.ts';
import { Client } from '../sdk/client.ts';
import { StallWatch, stallMs } from './stall.ts';

let controller: InProcessController;
let client: Client;

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
});

afterAll(() => controller.close());

const held: TaskSpec = { command: 'x', held: true };

const submit = async (...tasks: TaskSpec[]): Promise<string> =>
  (await client.submitWhole(plainSpec, { tasks, edges: [] })).id;

it('who waits hears once that nothing moves, and again when it is for something else', async () => {
  const id = await submit(held);
  await eventually(async () => expect((await client.workflow(id)).state).toBe('running'));
  const notes: string[] = [];
  let now = 0;
  const stall = new StallWatch(
    client,
    (text) => notes.push(text),
    () => now,
  );
  const look = async (ms: number) => {
    now += ms;
    stall.look(await client.workflow(id));
    await stall.settled;
  };
  await look(0);
  await look(stallMs - 1);
  expect(notes).toEqual([]);
  await look(1);
  const said = `drover: nothing moves: ${id}.1: it is held; drover release ${id}.1; 'drover why ${id}' tells more`;
  expect(notes).toEqual([said]);
  await look(stallMs);
  expect(notes).toHaveLength(1);
  await client.setConcurrency(id, { workflow: 0 });
  await client.releaseTask(`${id}.1`);
  await look(stallMs);
  expect(notes).toHaveLength(1);
  await look(stallMs);
  expect(notes[1]).toContain(`${id}.1: no task of its workflow ${id} may run; drover concurrency ${id} none`);
  await client.cancel(id);
});

it('nothing is said while something runs, or when all has ended', async () => {
  const id = await submit({ command: 'a' });
  await eventually(async () => expect((await client.workflow(id)).state).toBe('done'));
  const notes: string[] = [];
  let now = 0;
  const stall = new StallWatch(
    client,
    (text) => notes.push(text),
    () => now,
  );
  const view = await client.workflow(id);
  for (const next of [view, { ...view, state: 'running' as const, counts: { ...view.counts, running: 1 } }]) {
    for (let looks = 0; looks < 3; looks++) {
      now += stallMs;
      stall.look(next);
      await stall.settled;
    }
  }
  expect(notes).toEqual([]);
});
