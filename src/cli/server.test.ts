/** The commands around a controller that stays up, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { DroverError } from '../model/errors.ts';
import { workflowId } from '../model/ids.ts';
import { CliBench } from './bench.testing.ts';
import type { ServeOptions, WorkOptions } from './programs.ts';

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterEach(() => controller.close());

const stateOf = async (id: string) => (await bench.client.workflow(id)).state;
const untilState = (id: string, state: string) => eventually(async () => expect(await stateOf(id)).toBe(state));

describe('submit', () => {
  it('prints the id and leaves the tasks to the controller', async () => {
    const { env } = bench;
    env.files.set('/me/a.tasks', 'echo 1\n#DROVER BARRIER\nsum\n');
    expect(await bench.drover('submit', '--retries', '2', '--name', 'n', 'a.tasks')).toBe(0);
    expect([env.stdout.text, env.stderr.text]).toEqual(['w1\n', '']);
    expect([bench.opened, bench.closed]).toEqual([[{ joinsOnly: true, submits: true }], 1]);
    const { spec, tasks } = await controller.definitionOf(workflowId(1));
    expect(spec).toMatchObject({ name: 'n', maxAttempts: 3 });
    expect(tasks.map(({ command }) => command)).toEqual(['echo 1', undefined, 'sum']);
    await untilState('w1', 'done');
  });

  it('takes values, and prints the workflow as JSON', async () => {
    expect(await bench.drover('submit', '--json', '--dir', 'd', 'hang', ':::', 'a', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ id: 'w1', counts: { total: 2 } });
    expect(bench.opened).toEqual([{ dir: '/me/d', joinsOnly: true, submits: true }]);
  });

  it('submits nothing of a dry run or a bad file', async () => {
    expect(await bench.drover('submit', '--dry-run', 'x', ':::', 'a')).toBe(0);
    expect(bench.env.stdout.text).toBe('     1  x a\n');
    bench.env.stdin = 'echo 1\n#DROVER NONSENSE\n';
    expect(await bench.drover('submit', '-')).toBe(2);
    expect(await bench.client.workflows()).toEqual({ workflows: [] });
  });

  it('is interrupted before anything is acknowledged, or not at all', async () => {
    const { env } = bench;
    env.readStdin = async function* () {
      yield Buffer.from('echo 1\n');
      env.raise('SIGINT');
      await new Promise(() => undefined);
    };
    expect(await bench.drover('submit', '-')).toBe(130);
    expect([env.stdout.text, env.stderr.text]).toEqual(['', 'drover: interrupted, nothing was submitted\n']);
    expect([bench.closed, env.isListening]).toEqual([1, false]);
  });
});

describe('wait', () => {
  it('ends like a run: result, summary, exit code', async () => {
    await bench.drover('submit', 'echo', ':::', 'a', 'b');
    await bench.drover('submit', '{}', ':::', 'ok', 'fail');
    bench.renew();
    expect(await bench.drover('wait', 'w1')).toBe(0);
    expect(bench.env.stdout.text).toBe('out of echo a\nout of echo b\n');
    expect(bench.env.stderr.text).toMatch(/^w1 done: 2 tasks in /m);
    expect(bench.opened.at(-1)).toEqual({ joinsOnly: true, attends: true });
    bench.renew();
    expect(await bench.drover('wait', '--json', 'w2')).toBe(1);
    expect(bench.lastJson()).toMatchObject({ id: 'w2', state: 'failed', total: 2, done: 1, failed: 1 });
  });

  it('waits for all of several', async () => {
    await bench.drover('submit', 'hang', ':::', '1');
    await bench.drover('submit', 'echo', ':::', '1');
    bench.renew();
    const waiting = bench.drover('wait', 'w1', 'w2');
    await eventually(() => expect(bench.env.stderr.text).toContain('w2 done'));
    expect(bench.closed).toBe(2);
    await bench.client.cancel('w1');
    expect(await waiting).toBe(1);
    expect(bench.env.stderr.text).toContain('w1 cancelled');
    expect(await bench.drover('wait', '-q', 'w2', 'w2')).toBe(0);
  });

  it('waits for none when one is unknown', async () => {
    await bench.drover('submit', 'hang', ':::', '1');
    expect(await bench.drover('wait', 'w1', 'w7')).toBe(2);
    expect(bench.env.stderr.text).toContain('there is no workflow w7');
  });

  it('Ctrl-C ends the waiting, not the workflow', async () => {
    await bench.drover('submit', 'hang', ':::', '1');
    bench.renew();
    const waiting = bench.drover('wait', 'w1');
    await eventually(() => expect(bench.env.stderr.text).toContain('w1: 1 task'));
    bench.env.raise('SIGINT');
    expect(await waiting).toBe(130);
    expect(bench.env.stderr.lines.at(-1)).toBe("drover: no longer waiting; w1 goes on; 'drover wait w1' waits again");
    expect(await stateOf('w1')).toBe('running');
  });
});

describe('retry', () => {
  it('tries all failed tasks of a workflow again', async () => {
    await bench.drover('run', '{}', ':::', 'ok', 'fail-1', 'fail-2');
    bench.renew();
    expect(await bench.drover('retry', 'w1', '--failed')).toBe(0);
    expect(bench.env.stdout.text).toBe('w1: 2 failed tasks will be tried again\n');
    expect(bench.opened.at(-1)).toEqual({ joinsOnly: true });
    await untilState('w1', 'done');
    expect(await bench.drover('retry', '--json', '--failed', 'w1')).toBe(0);
    expect(bench.lastJson()).toEqual({ id: 'w1', state: 'done', retried: 0 });
  });

  it('releases a task that is held', async () => {
    await bench.drover('submit', '--on-lost', 'hold', 'stuck', ':::', '1');
    await eventually(async () => expect((await bench.client.task('w1.1')).state).toBe('running'));
    await bench.client.stopWorker('k1', true);
    await eventually(async () => expect((await bench.client.task('w1.1')).held).toBe(true));
    bench.renew();
    await bench.drover('retry', 'w1.1');
    await bench.drover('retry', 'w1.1');
    expect(bench.env.stdout.lines).toEqual(['w1.1 will be tried again', 'w1.1 is left as it is: queued']);
    expect((await bench.client.task('w1.1')).held).toBeUndefined();
  });

  it('tries tasks again; one that is unknown does not keep the others from it', async () => {
    await bench.drover('run', '{}', ':::', 'ok', 'fail-1', 'fail-2');
    bench.renew();
    expect(await bench.drover('retry', 'w1.9', 'w1.1', 'w1.3')).toBe(2);
    expect(bench.env.stdout.lines).toEqual(['w1.1 is left as it is: done', 'w1.3 will be tried again']);
    expect(bench.env.stderr.text).toContain('there is no task w1.9');
    await untilState('w1', 'failed');
    expect((await bench.client.workflow('w1')).counts).toMatchObject({ done: 2, failed: 1 });
  });
});

describe('workers', () => {
  it('lists them', async () => {
    expect(await bench.drover('workers')).toBe(0);
    const [head, row] = bench.env.stdout.lines;
    expect(head).toMatch(/^ID +KIND +STATE +QUEUE +SLOTS +MEMORY +GPUS +ATTEMPTS +HEARD +HOST +REASON$/);
    expect(row).toMatch(/^k1 +native +healthy +default +4 +0 +.* ago +here$/);
    await bench.drover('workers', '--all', '--json');
    expect(bench.lastJson()).toMatchObject({ id: 'k1', state: 'healthy', slots: 4 });
  });
});

describe('worker drain, stop, release and slots', () => {
  const states = async () => (await bench.client.workers({ all: true })).workers.map(({ state, bar }) => [state, bar]);

  it('bar a worker and let it work again', async () => {
    expect(await bench.drover('worker', 'drain', 'k1')).toBe(0);
    expect(await states()).toEqual([['healthy', 'drained']]);
    await bench.drover('workers');
    expect(bench.env.stdout.lines.at(-1)).toMatch(
      /^k1 +native +healthy, drained +default +4 +0 +.* ago +here +by command$/,
    );
    await bench.drover('submit', 'echo', ':::', '1');
    expect((await bench.client.task('w1.1')).state).toBe('queued');
    expect(await bench.drover('worker', 'release', '--json', 'k1')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ id: 'k1', state: 'healthy' });
    await untilState('w1', 'done');
    expect(bench.opened.at(-1)).toEqual({ joinsOnly: true });
  });

  it('tell it another number of slots', async () => {
    expect(await bench.drover('worker', 'slots', 'k1', '7')).toBe(0);
    expect(bench.env.stdout.text).toBe('k1 is told its new number of slots\n');
    await eventually(async () => expect((await bench.client.server()).slots).toBe(7));
  });

  it('end it when it runs nothing any more', async () => {
    await bench.drover('submit', 'hang', ':::', '1');
    await eventually(async () => expect((await bench.client.task('w1.1')).state).toBe('running'));
    expect(await bench.drover('worker', 'stop', 'k1')).toBe(0);
    expect(await states()).toEqual([['healthy', 'stopping']]);
    await bench.client.cancel('w1');
    await eventually(async () => expect(await states()).toEqual([['gone', 'stopping']]));
    expect(await bench.drover('worker', 'release', 'k1')).toBe(2);
    expect(bench.env.stderr.text).toContain('drover: k1 is gone: it ended by itself\n');
  });

  it('end it at once, and what it had not handed over is told to be missing', async () => {
    await bench.drover('submit', 'stuck', ':::', '1');
    await eventually(async () => expect((await bench.client.task('w1.1')).state).toBe('running'));
    expect(await bench.drover('worker', 'stop', '--now', 'k1')).toBe(0);
    expect(bench.env.stdout.lines.at(-1)).toBe('k1 ends now; what ran there is tried again');
    await eventually(async () => expect((await bench.client.task('w1.1')).outcome).toMatchObject({ kind: 'lost' }));
    for (const name of ['w1.1', 'w1']) {
      bench.renew();
      expect(await bench.drover('logs', name, '--both')).toBe(1);
      expect(bench.env.stderr.text).toBe(
        'drover: the worker of w1.1 was lost: what it had not handed over is missing\n',
      );
    }
  });

  it.each([
    ['drain', '--now', 'k1'],
    ['slots', 'k1', 'many'],
    ['slots', '4'],
    ['release'],
    ['drain', 'k7', 'k1'],
    ['dismiss', 'k1'],
  ])('do nothing of what is wrong: %s %s %s', async (...words) => {
    expect(await bench.drover('worker', ...words)).toBe(2);
    expect(await states()).toEqual([['healthy', undefined]]);
  });
});

describe('run --server', () => {
  it('only joins', async () => {
    expect(await bench.drover('run', '--server', 'echo', ':::', 'a')).toBe(0);
    expect(bench.opened).toEqual([{ slots: 4, joinsOnly: true }]);
  });
});

describe('server', () => {
  const serving = { url: 'http://127.0.0.1:7', pid: 7, directory: '/me/.drover' };
  const given: ServeOptions[] = [];
  beforeEach(() => {
    given.length = 0;
    bench.programs = {
      serve: async (options, onReady) => {
        given.push(options);
        onReady(serving);
        return 0;
      },
      serveDetached: async (options) => {
        given.push(options);
        return serving;
      },
    };
  });

  it('says where it is, in the foreground and detached', async () => {
    expect(await bench.drover('server', '--listen', ':7', '--dir', 'd')).toBe(0);
    expect(given).toEqual([{ listen: ':7', dir: '/me/d' }]);
    expect(bench.env.stderr.lines).toEqual([
      "drover: the server of /me/.drover is ready at http://127.0.0.1:7 (pid 7); Ctrl-C or 'drover server stop' ends it",
      'drover: the server ended; workers wait a while for the next one',
    ]);
    expect(await bench.drover('server', '--detach', '--json')).toBe(0);
    expect(bench.lastJson()).toEqual(serving);
    expect(bench.opened).toEqual([]);
  });

  it('passes on what it was told of workers', async () => {
    const words = ['--preset', 'interactive', '--health-check', 'df /x', '--allow-bump-unhealthy-worker'];
    const options = { preset: 'interactive', healthCheck: 'df /x', allowBumpUnhealthyWorker: true };
    expect(await bench.drover('server', ...words)).toBe(0);
    expect(await bench.drover('server', '--detach', ...words)).toBe(0);
    expect(given).toEqual([options, options]);
    for (const wrong of [
      ['--preset', 'slow'],
      ['--health-check', ''],
      ['stop', '--preset', 'cluster'],
    ]) {
      expect(await bench.drover('server', ...wrong)).toBe(2);
    }
    expect(given).toHaveLength(2);
  });

  it('has a status', async () => {
    expect(await bench.drover('server', 'status')).toBe(0);
    expect(bench.env.stdout.lines).toEqual([
      'version  1.2.3',
      `pid      ${process.pid}`,
      `url      ${controller.access.url}`,
      expect.stringMatching(/^up {7}\d/),
      'workers  1',
      'slots    4',
    ]);
    await bench.drover('server', 'status', '--json');
    expect(bench.lastJson()).toMatchObject({ version: '1.2.3', url: controller.access.url, workers: 1, slots: 4 });
    expect(bench.opened).toEqual([{ joinsOnly: true }, { joinsOnly: true }]);
  });

  it('does not stop a controller that belongs to a command', async () => {
    expect(await bench.drover('server', 'stop')).toBe(2);
    expect(bench.env.stderr.text).toContain('the controller belongs to a running command');
  });
});

it('a command that only joins passes on that there is nobody', async () => {
  const none = new DroverError('controller-unreachable', 'no controller runs', { hint: 'drover server --detach' });
  bench.programs = { openSession: () => Promise.reject(none) };
  for (const words of [
    ['submit', 'x', ':::', '1'],
    ['wait', 'w1'],
    ['workers'],
    ['worker', 'drain', 'k1'],
    ['server', 'status'],
  ]) {
    expect(await bench.drover(...words)).toBe(3);
    expect(bench.env.stderr.lines.slice(-2)).toEqual(['drover: no controller runs', '  drover server --detach']);
  }
});

it('worker passes its options on', async () => {
  const given: WorkOptions[] = [];
  bench.programs = {
    work: async (options, onReady) => {
      given.push(options);
      onReady('/w/0');
      return 5;
    },
  };
  expect(await bench.drover('worker', '-j', '2', '--access', 'a.json')).toBe(5);
  expect(await bench.drover('worker', '--dir', '/d', '--log-level', 'debug')).toBe(5);
  expect(await bench.drover('worker', '--log-level', 'loud')).toBe(2);
  const fitted = [
    '--queue',
    'big',
    '--memory',
    '8GB',
    '--gpus',
    '2',
    '--pool',
    'a=1',
    '--pool',
    'b=0.5',
    '--until',
    '2h',
  ];
  expect(await bench.drover('worker', '-j', '1', ...fitted)).toBe(5);
  for (const pair of [
    ['--memory', 'much'],
    ['--pool', 'a'],
    ['--pool', '=1'],
    ['--gpus', '-1'],
    ['--queue', ''],
  ]) {
    expect(await bench.drover('worker', ...pair)).toBe(2);
  }
  expect(given).toEqual([
    { slots: 2, access: '/me/a.json', capacity: {} },
    { slots: 4, dir: '/d', logLevel: 'debug', capacity: {} },
    {
      ...{ slots: 1, untilMs: 7_200_000 },
      capacity: { queue: 'big', memoryBytes: 8_000_000_000, gpus: 2, pools: { a: 1, b: 0.5 } },
    },
  ]);
  expect(bench.env.stderr.lines[0]).toBe('drover: a worker with 2 slots runs in /w/0; Ctrl-C ends it and its tasks');
});
