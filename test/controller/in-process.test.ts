/** What the tests that use it rely on, on a busy machine as well. */
import { afterEach, expect, it, vi } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from './eventually.ts';
import { startController } from './in-process.ts';
import { plainSpec } from './spec.ts';

afterEach(() => vi.restoreAllMocks());

it('every task has one attempt, although the loop stood still between its order and its arrival', async () => {
  const controller = await startController();
  const client = new Client(controller.access);
  const time = performance.now.bind(performance);
  // Orders are on their way when this is told. A worker that takes itself for unhealthy would refuse them.
  const stop = controller.shell.follow(({ changes }) => {
    if (!changes.some(({ type }) => type === 'attempt-recorded')) return;
    stop();
    vi.spyOn(performance, 'now').mockImplementation(() => time() + 5_000);
  });
  await client.submitWhole(plainSpec, { tasks: [{ command: 'a' }, { command: 'b' }], edges: [] });
  await eventually(async () => expect((await client.workflow('w1')).endedAt).toBeDefined());
  expect((await client.statisticsOf('w1')).outcomes).toEqual({ succeeded: 2 });
  await controller.close();
});
