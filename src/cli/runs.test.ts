/** `drover halt`, `drover reset` and the ways to resume, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterEach(() => controller.close());

/** One task is done, two run until they are killed. */
async function running(): Promise<void> {
  await bench.drover('submit', '{}', ':::', 'ok', 'hang1', 'hang2');
  await eventually(async () => {
    const { tasks } = await bench.client.tasksOf('w1');
    expect(tasks.map(({ state }) => state)).toEqual(['done', 'running', 'running']);
  });
  bench.renew();
}

describe('drover halt', () => {
  it('waits until nothing runs, and says how far it came', async () => {
    await running();
    expect(await bench.drover('halt', 'w1', '--kill')).toBe(0);
    expect(bench.env.stdout.text).toBe("w1 is halted: 1 of 3 tasks done; 'drover resume w1' goes on with it\n");
    expect(bench.env.stderr.text).toBe('drover: w1 launches nothing more; killing 2 running tasks\n');
    expect(bench.opened.at(-1)).toEqual({ joinsOnly: true });
  });

  it('lets what runs end, and Ctrl-C ends only the watching', async () => {
    await running();
    const halting = bench.drover('halt', 'w1');
    await eventually(async () => expect(bench.env.stderr.text).toContain('waiting for 2 running tasks; --kill'));
    bench.env.raise('SIGINT');
    expect(await halting).toBe(130);
    expect(bench.env.stderr.text).toContain("no longer watching; w1 goes on to halt; 'drover wait w1'");
    expect(await bench.client.workflow('w1')).toMatchObject({ state: 'halting', haltMode: 'drain' });
    bench.renew();
    expect(await bench.drover('halt', 'w1', '--kill', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ id: 'w1', state: 'halted', counts: { done: 1, pending: 2 } });
  });

  it('leaves what has ended, and refuses a task', async () => {
    await bench.drover('run', '{}', ':::', 'ok');
    bench.renew();
    expect(await bench.drover('halt', 'w1')).toBe(0);
    expect(bench.env.stdout.text).toBe('w1 had ended already: done\n');
    expect(await bench.drover('halt', 'w1.1', '--json')).toBe(2);
    expect(bench.lastJson()).toMatchObject({ error: { code: 'bad-reference' } });
    expect(await bench.drover('halt', 'w7', '--json')).toBe(2);
    expect(bench.lastJson()).toMatchObject({ error: { code: 'workflow-unknown' } });
  });
});

describe('drover resume', () => {
  it('is hot by default: what still runs is taken over', async () => {
    await running();
    await bench.drover('halt', 'w1', '--no-wait');
    const resumed = bench.drover('resume', 'w1');
    await eventually(async () => expect(await bench.client.workflow('w1')).toMatchObject({ run: 2, state: 'running' }));
    expect(await bench.client.task('w1.2')).toMatchObject({ state: 'running', attempts: 1 });
    await bench.client.cancel('w1');
    expect(await resumed).toBe(1);
  });

  it('waits cold for what still runs, until Ctrl-C, and then has started nothing', async () => {
    await running();
    await bench.drover('halt', 'w1', '--no-wait');
    const resumed = bench.drover('resume', 'w1', '--cold');
    await eventually(async () =>
      expect(bench.env.stderr.text).toContain('waiting for 2 running tasks of the last run'),
    );
    bench.env.raise('SIGINT');
    expect(await resumed).toBe(130);
    expect(bench.env.stderr.text).toContain('nothing was started');
    expect(await bench.client.workflow('w1')).toMatchObject({ run: 1, state: 'halting' });
  });

  it('refuses what makes no sense together, and a workflow that is going on', async () => {
    await running();
    expect(await bench.drover('resume', 'w1', '--hot', '--cold')).toBe(2);
    expect(await bench.drover('resume', 'w1', '--kill', '--json')).toBe(2);
    expect(bench.lastJson()).toMatchObject({ error: { code: 'bad-input' } });
    for (const how of ['--hot', '--cold']) {
      expect(await bench.drover('resume', 'w1', how, '--json')).toBe(2);
      expect(bench.lastJson()).toMatchObject({ error: { code: 'run-is-live', details: { state: 'running' } } });
    }
  });
});

describe('drover reset', () => {
  it('lets what is not done begin anew, and says what follows', async () => {
    await bench.drover('run', '{}', ':::', 'ok', 'fail1', 'fail2');
    bench.renew();
    expect(await bench.drover('reset', 'w1')).toBe(0);
    expect(bench.env.stdout.text).toBe("w1: 2 tasks will begin anew; 'drover resume w1' runs them\n");
    expect(await bench.drover('resume', 'w1', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ state: 'done', run: 2, attempts: 2 });
    expect(await bench.drover('reset', 'w1', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ state: 'done', reset: 0 });
    expect(await bench.drover('reset', 'w1', '--all', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ state: 'halted', reset: 3, run: 2 });
  });
});
