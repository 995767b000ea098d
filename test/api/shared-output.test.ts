import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharedOutput } from '../../src/api/shared-output.ts';
import type { ControllerShell } from '../../src/controller/shell.ts';
import type { AttemptId } from '../../src/model/ids.ts';
import { followPollMs } from '../../src/model/limits.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let shell: ControllerShell;
/** How often workers, or the store, were asked. */
let asked = 0;

beforeEach(async () => {
  controller = await startController();
  asked = 0;
  const counted = (...call: Parameters<ControllerShell['request']>): ReturnType<ControllerShell['request']> => {
    if (call[0].type === 'read-output') asked++;
    return controller.shell.request(...call);
  };
  shell = new Proxy(controller.shell, {
    get: (target, name) => {
      if (name === 'request') return counted;
      const value = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
});

afterEach(() => controller.close());

async function start(command: string): Promise<{ client: Client; id: string; attempt: AttemptId }> {
  const client = new Client(controller.access);
  const { id } = await client.submitWhole(plainSpec, { tasks: [{ command }], edges: [] });
  await eventually(async () => expect((await client.task(`${id}.1`)).history[0]?.startedAt).toBeDefined());
  const attempt = (await controller.shell.store.lastAttempt()) as AttemptId;
  return { client, id, attempt };
}

describe('output that is still with its worker', () => {
  it('is read whole by who asks when its task has just ended', async () => {
    const client = new Client(controller.access);
    const command = 'x'.repeat(700_000);
    const { id } = await client.submitWhole(plainSpec, { tasks: [{ command }], edges: [] });
    for (let view = await client.workflow(id); view.endedAt === undefined; )
      view = await client.workflow(id, { after: view.version, waitMs: 10_000 });
    const pieces = await Array.fromAsync(client.output(`${id}.1`, { stream: 'stdout' }));
    expect(Buffer.concat(pieces).toString()).toBe(`out of ${command}`);
  });
});

describe('output that many follow', () => {
  it('is asked for once, and again only by one timer', async () => {
    const { client, id, attempt } = await start('hang a');
    const output = new SharedOutput(shell);
    const begunAt = performance.now();
    const place = { attempt, stream: 'stdout', offset: 0 } as const;
    const until = shell.now() + 20_000;
    const first = await Promise.all(Array.from({ length: 20 }, () => output.read(place, until)));
    for (const { data } of first) expect(Buffer.from(data).toString()).toBe('out of hang a');
    expect(asked).toBe(1);
    const waiting = Array.from({ length: 20 }, () => output.read({ ...place, offset: 13 }, until));
    await eventually(() => expect(asked).toBeGreaterThan(3));
    await client.cancel(id);
    for (const { data, isComplete } of await Promise.all(waiting)) expect([data.length, isComplete]).toEqual([0, true]);
    // Twenty readers of their own would have asked twenty times as often.
    expect(asked).toBeLessThanOrEqual(3 + (performance.now() - begunAt) / followPollMs.first);
  });

  it('is kept within its limit, and fetched again for who needs what is gone', async () => {
    const { client, id, attempt } = await start(`hang ${'x'.repeat(600_000)}`);
    const output = new SharedOutput(shell, 300_000);
    const read = async (): Promise<string> => {
      let text = '';
      for (let offset = 0; text.length < 600_012; ) {
        const { data, nextOffset } = await output.read({ attempt, stream: 'stdout', offset }, shell.now() + 20_000);
        text += Buffer.from(data).toString();
        offset = nextOffset;
      }
      return text;
    };
    const expected = `out of hang ${'x'.repeat(600_000)}`;
    expect(await read()).toBe(expected);
    expect(output.bytes).toBeLessThanOrEqual(300_000);
    const before = asked;
    expect(await read()).toBe(expected);
    expect(asked).toBeGreaterThan(before);
    await client.cancel(id);
  });
});
