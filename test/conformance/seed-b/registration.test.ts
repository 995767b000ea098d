/** What a definer does, and what goes on without it: B12, B15–B17, B29, B30, B43, B44. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliBench } from '../../../src/cli/bench.testing.ts';
import { registerWorkflow } from '../../../src/core/workflow/registration.ts';
import { registrationIdleMs } from '../../../src/model/limits.ts';
import { startController } from '../../controller/in-process.ts';
import { plainSpec } from '../../controller/spec.ts';
import { Herd } from '../../core/herd.ts';
import { Bench } from '../seed-a/bench.ts';

let bench: Bench;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
});

afterEach(() => bench.stop());

const tasks = [{ command: 'a' }, { command: 'b' }];
const register = async (): Promise<string> => {
  const { body } = await bench.call('POST', 'workflows', { spec: plainSpec });
  await bench.call('POST', `workflows/${body.id}/tasks`, { tasks, edges: [] });
  return body.id;
};
const workflow = async (id: string) => (await bench.call('GET', `workflows/${id}`)).body;

describe('registering', () => {
  it('B15: a definer gets an id, and what it writes is registering until it is ready', async () => {
    const w = await register();
    expect(w).toBe('w1');
    expect((await workflow(w)).state).toBe('registering');
    expect(await bench.states(w)).toEqual(['registering', 'registering']);
    expect(await bench.available()).toEqual([]);
  });

  it('B16: when all of it is written the definer says so, and only then it is queued to be run', async () => {
    const w = await register();
    await bench.call('POST', `workflows/${w}/close`);
    expect(await bench.states(w)).toEqual(['queued', 'queued']);
    const { events } = (await bench.call('GET', `events?where=${encodeURIComponent(`workflow=${w}`)}`)).body;
    const moves = events.filter(({ type }: { type: string }) => type === 'workflow-moved');
    expect(moves.map(({ to }: { to: string }) => to)).toEqual(['queued', 'instantiating', 'launched', 'running']);
  });

  it('B12, B17: what a definer gives up is aborted, and nothing brings it back', async () => {
    const w = await register();
    expect((await bench.call('POST', `workflows/${w}/abort`)).body.state).toBe('aborted');
    expect(await bench.states(w)).toEqual(['aborted', 'aborted']);
    for (const [action, body] of [
      ['close', undefined],
      ['resume', { how: 'hot' }],
      ['reset', { all: true }],
    ] as const) {
      const answer = await bench.call('POST', `workflows/${w}/${action}`, body);
      expect([action, answer.status, answer.body.error?.code]).toEqual([action, 409, 'transition-not-allowed']);
    }
    expect(await bench.available()).toEqual([]);
  });

  it('B12, B44: a definer that has gone silent is given up by the controller itself', () => {
    const herd = new Herd();
    const w = herd.turn((turn) => registerWorkflow(turn, { maxAttempts: 1, failFast: false, open: false }));
    herd.pass(registrationIdleMs - 1);
    expect(herd.cluster.workflow(w).state).toBe('registering');
    herd.pass(1);
    expect(herd.cluster.workflow(w).state).toBe('aborted');
  });
});

describe('a workflow that is registered', () => {
  it('B29: (wish) goes on without its definer, also under another controller that has only what was stored', async () => {
    const w = await bench.submit(tasks);
    await bench.restart();
    const k = await bench.worker();
    for (const task of await bench.available()) await bench.run(k, task);
    expect(await workflow(w)).toMatchObject({ state: 'done', run: 1 });
  });

  it('B30: (wish) is started from a command line, by which all that is not said has a default', async () => {
    const controller = await startController();
    try {
      const cli = new CliBench(controller.access);
      expect(await cli.drover('submit', 'echo {}', ':::', 'a', 'b')).toBe(0);
      const [id = ''] = cli.env.stdout.lines;
      expect(await cli.drover('wait', id)).toBe(0);
      expect(await cli.client.workflow(id)).toMatchObject({ state: 'done', counts: { done: 2 } });
    } finally {
      await controller.close();
    }
  });

  it('B43, B44: (wish) is run by workers and decided on by the controller; its definer may not even speak of an attempt', async () => {
    const w = await bench.submit(tasks);
    const k = await bench.worker();
    const asDefiner = await bench.callsAs('submit');
    const claimed = await asDefiner('POST', `workers/${k}/claims`, {});
    expect([claimed.status, claimed.body.error?.code]).toEqual([403, 'role-not-allowed']);
    const asWorker = await bench.callsAs('worker');
    const submitted = await asWorker('POST', 'workflows', { spec: plainSpec });
    expect([submitted.status, submitted.body.error?.code]).toEqual([403, 'role-not-allowed']);
    for (const task of await bench.available()) await bench.run(k, task);
    expect((await workflow(w)).state).toBe('done');
  });
});
