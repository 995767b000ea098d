import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import type { TaskSpec } from '../protocol/spec.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
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

/** Who waits for a workflow, with a clock of his own. */
class Waiting {
  readonly notes: string[] = [];
  private now = 0;
  private readonly stall = new StallWatch(
    client,
    (text) => this.notes.push(text),
    () => this.now,
  );

  async look(view: WorkflowView, ms: number): Promise<void> {
    this.now += ms;
    this.stall.look(view);
    await this.stall.settled;
  }
}

it('who waits hears once that nothing moves, and again when it is for something else', async () => {
  const id = await submit(held);
  await eventually(async () => expect((await client.workflow(id)).state).toBe('running'));
  const waiting = new Waiting();
  const { notes } = waiting;
  const look = async (ms: number) => waiting.look(await client.workflow(id), ms);
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
  const waiting = new Waiting();
  const view = await client.workflow(id);
  for (const next of [view, { ...view, state: 'running' as const, counts: { ...view.counts, running: 1 } }]) {
    for (let looks = 0; looks < 3; looks++) await waiting.look(next, stallMs);
  }
  expect(waiting.notes).toEqual([]);
});
