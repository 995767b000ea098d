import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { workflowId } from '../model/ids.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeAll(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterAll(() => controller.close());
beforeEach(() => bench.renew());

const lastSpec = async () => {
  const { workflows } = await bench.client.workflows({ limit: 1 });
  return (await controller.definitionOf(workflowId(Number(workflows[0]?.id.slice(1))))).spec;
};

describe('notifications', () => {
  it('of webhooks go with the workflow, with the secret of the environment', async () => {
    bench.env.variables.DROVER_NOTIFY_SECRET = 'geheim';
    const urls = ['--notify-url', 'https://a.example/x', '--notify-url', 'http://b.example'];
    const words = ['submit', ...urls, '--notify-on', 'end,failed:5%,failed:3', 'ok {}', ':::', '1'];
    expect(await bench.drover(...words)).toBe(0);
    const spec = await lastSpec();
    expect(spec?.notify).toEqual(
      ['https://a.example/x', 'http://b.example'].flatMap((webhook) =>
        ['end', { failed: '5%' }, { failed: 3 }].map((on) => ({ on, webhook, secret: 'geheim' })),
      ),
    );
    expect(JSON.stringify(spec?.env)).not.toContain('geheim');
  });

  it('are asked for by nobody who does not say so', async () => {
    expect(await bench.drover('submit', 'ok {}', ':::', '1')).toBe(0);
    expect(await lastSpec()).not.toHaveProperty('notify');
  });

  it('by a command come while it waits, each once', async () => {
    const words = ['--notify-command', 'say', '--notify-on', 'first-failure,failed:100%,end', '--bell'];
    bench.env.stderr.isTerminal = true;
    expect(await bench.drover('run', ...words, 'fail {}', ':::', '1', '2')).toBe(1);
    const { shellRuns, stderr } = bench.env;
    expect(shellRuns.map(([line]) => line)).toEqual(['say', 'say', 'say']);
    expect(shellRuns.map(([, { DROVER_EVENT }]) => DROVER_EVENT).sort()).toEqual(['end', 'failed', 'first-failure']);
    expect(shellRuns.at(-1)?.[1]).toMatchObject({ DROVER_EVENT: 'end', DROVER_STATE: 'failed', DROVER_FAILED: '2' });
    expect(stderr.text).toMatch(/\]777;notify;drover;w\d+ is failed/);
  });

  it('by a command that fails are remarked on, and change no exit code', async () => {
    const { id } = await bench.client.submitWhole(plainSpec, { tasks: [{ command: 'ok' }], edges: [] });
    await eventually(async () => expect((await bench.client.workflow(id)).state).toBe('done'));
    expect(await bench.drover('wait', id, '--notify-command', 'false')).toBe(0);
    expect(bench.env.stderr.text).toContain('--notify-command ended with 1');
  });

  it('by a command that does not end are remarked on, and waited for no longer', async () => {
    const { id } = await bench.client.submitWhole(plainSpec, { tasks: [{ command: 'ok' }], edges: [] });
    await eventually(async () => expect((await bench.client.workflow(id)).state).toBe('done'));
    expect(await bench.drover('wait', id, '--notify-command', 'forever')).toBe(0);
    expect(bench.env.stderr.text).toContain('--notify-command took longer than 1m, and was ended');
  });

  it.each(['soon', 'failed', 'failed:0', 'failed:x%', 'failed:101%', 'end,'])('are refused on %s', async (on) => {
    expect(await bench.drover('submit', '--notify-url', 'http://x', '--notify-on', on, 'ok')).toBe(2);
    expect(bench.env.stderr.text).toContain('--notify-on');
  });

  it.each([
    [['submit', '--notify-url', 'ftp://x', 'ok'], 'an address of http or https'],
    [['submit', '--notify-url', 'http://[fe80::1]/', 'ok'], 'not an address that webhooks may reach'],
    [['submit', '--notify-on', 'end', 'ok'], 'with it goes --notify-url\n'],
    [['run', '--notify-on', 'end', 'ok'], 'with it goes --notify-url or --notify-command or --bell\n'],
    [['wait', 'w1', '--notify-on', 'first-failure'], 'with it goes --notify-command or --bell\n'],
  ])('are refused where nobody could be told: %j', async (words, message) => {
    expect(await bench.drover(...words)).toBe(2);
    expect(bench.env.stderr.text).toContain(message);
  });
});
