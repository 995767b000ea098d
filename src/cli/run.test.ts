/** `drover run` and the signals that it gets, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { workflowId } from '../model/ids.ts';
import { submitTasksMax } from '../model/limits.ts';
import { CliBench } from './bench.testing.ts';

const clearToEnd = '\u001b[K';
const w1 = workflowId(1);

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterEach(() => controller.close());

/** Somebody else's run here, `w1`, whose task goes on until it is stopped. `code`: how it exits. */
async function startOther(): Promise<{ readonly code: Promise<number> }> {
  const other = new CliBench(controller.access);
  const code = other.drover('run', 'hang', ':::', '1');
  await eventually(() => expect(other.env.stderr.text).toContain('w1: 1 task'));
  bench.others = ['w1'];
  return { code };
}

describe('run', () => {
  const commands = async () => (await controller.definitionOf(w1)).tasks.map(({ command }) => command);
  const workflows = async () => (await bench.client.workflows()).workflows;

  it('runs the lines of a file, prints the result to stdout and the summary to stderr', async () => {
    const { env } = bench;
    env.files.set('/me/a.tasks', 'echo 1\necho 2\n#DROVER BARRIER\nsum\n');
    expect(await bench.drover('run', 'a.tasks')).toBe(0);
    expect(await commands()).toEqual(['echo 1', 'echo 2', undefined, 'sum']);
    expect(env.stdout.text).toBe('out of sum\n');
    expect(env.stderr.text).toMatch(/^w1 done: 3 tasks in \d+ ms \([\d,.]+\/s\)\n/m);
    expect(env.stderr.text).not.toContain('\u001b');
    expect([bench.opened, bench.closed]).toEqual([[{ slots: 4 }], 1]);
  });

  it('prints the output of up to ten tasks where there is no barrier', async () => {
    await bench.drover('run', 'echo', ':::', ...'abcdefghij');
    expect(bench.env.stdout.lines).toEqual([...'abcdefghij'].map((value) => `out of echo ${value}`));
    bench.renew();
    await bench.drover('run', 'echo', ':::', ...'abcdefghijk');
    expect(bench.env.stdout.text).toBe('');
  });

  it('reads stdin and ends with one JSON object', async () => {
    const { env } = bench;
    env.stdin = Array.from({ length: 1_000 }, (_, i) => `echo ${i}\n`).join('');
    expect(await bench.drover('run', '-', '--json')).toBe(0);
    const types = env.stdout.lines.map((line) => JSON.parse(line).type);
    expect([types.at(0), types.at(-1)]).toEqual(['progress', undefined]);
    const counts = { total: 1_000, done: 1_000, failed: 0, cancelled: 0, attempts: 1_000 };
    expect(bench.lastJson()).toMatchObject({ id: 'w1', state: 'done', ...counts });
  });

  it('exits 1 after a failure, with its cause and the next lines to type', async () => {
    expect(await bench.drover('run', '{}', ':::', 'ok', 'fail', 'ok')).toBe(1);
    expect(bench.env.stdout.text).toBe('');
    for (const text of [
      'w1 failed: 2 of 3 tasks done, 1 failed',
      '1 × exit 1',
      '│ oh',
      'drover logs w1.2 --stderr',
      'drover resume w1',
    ]) {
      expect(bench.env.stderr.text).toContain(text);
    }
  });

  it('passes its options on', async () => {
    const options = ['-j', '2', '--retries', '3', '--timeout', '1m', '--fail-fast', '--name', 'n'];
    const more = ['--env', 'A=1', '--env', 'B=2', '--dir', 'd', '-q'];
    expect(await bench.drover('run', ...options, ...more, 'x', '--array', '1-2')).toBe(0);
    expect(bench.opened).toEqual([{ slots: 2, dir: '/me/d' }]);
    const { spec, tasks } = await controller.definitionOf(w1);
    expect(spec).toMatchObject({
      maxAttempts: 4,
      timeoutMs: 60_000,
      failFast: true,
      name: 'n',
      env: { A: '1', B: '2' },
    });
    expect(tasks).toEqual([
      { command: 'x', arrayIndex: 1 },
      { command: 'x', arrayIndex: 2 },
    ]);
    expect(bench.env.stdout.text + bench.env.stderr.text).toBe('');
  });

  it('waits for runs of others, and says so even when it is quiet', async () => {
    const theirs = await startOther();
    const ours = bench.drover('run', '-q', 'x', ':::', '1');
    await eventually(() => expect(bench.env.stderr.text).not.toBe(''));
    expect(bench.closed).toBe(0);
    await bench.client.cancel('w1');
    expect(await Promise.all([theirs.code, ours])).toEqual([1, 0]);
    expect(bench.env.stdout.text + bench.env.stderr.text).toBe(
      'drover: waiting for w1, started by others here; Ctrl-C stops them too, resumably\n',
    );
  });

  it('takes no option from among the values, and the folder from the environment', async () => {
    bench.env.variables.DROVER_DIR = '/elsewhere';
    await bench.drover('run', 'echo', ':::', '--json', '-j');
    expect(await commands()).toEqual(['echo --json', 'echo -j']);
    expect(bench.opened[0]?.dir).toBe('/elsewhere');
  });

  it('runs nothing of a bad file', async () => {
    bench.env.stdin = 'echo 1\n#DROVER NONSENSE\n';
    expect(await bench.drover('run', '-')).toBe(2);
    expect(await workflows()).toEqual([]);
    expect(bench.env.stderr.text).toMatch(
      /^drover: stdin, line 2: unknown directive '#DROVER NONSENSE'\n {2}known are /,
    );
    expect(bench.closed).toBe(1);
  });

  it('aborts what it had registered of a long file that turns out bad', async () => {
    bench.env.stdin = `${'echo 1\n'.repeat(submitTasksMax)}#DROVER NONSENSE\n`;
    expect(await bench.drover('run', '-')).toBe(2);
    expect(await workflows()).toMatchObject([{ id: 'w1', state: 'aborted', run: 0, attemptsEnded: 0 }]);
  });

  it('draws one line on a terminal and leaves it clear', async () => {
    const { stderr, variables } = bench.env;
    stderr.isTerminal = true;
    variables.NO_COLOR = '1';
    await bench.drover('run', 'echo', ':::', 'a', 'b');
    const [drawn, rest] = stderr.text.split(`${clearToEnd}\r${clearToEnd}`);
    expect(drawn).toMatch(/^\rw1 {2}[#-]+ {2}\d\/2 /);
    expect(rest).toMatch(/^w1 done: 2 tasks/);
    expect(stderr.text).not.toContain('\u001b[3');
  });

  it('goes on when nobody reads its output', async () => {
    bench.env.stdout.isClosed = true;
    bench.env.stderr.isClosed = true;
    expect(await bench.drover('run', 'echo', ':::', 'a')).toBe(0);
    expect(await workflows()).toMatchObject([{ id: 'w1', state: 'done' }]);
  });
});

describe('signals', () => {
  /** The command has seen so many tasks of the workflow running: it asks for what comes after that. */
  async function whenSeenRunning(id: string, running: number): Promise<void> {
    const version = await eventually(async () => {
      const view = await bench.client.workflow(id);
      expect(view.counts.running).toBe(running);
      return view.version;
    });
    const asksAfter = (request: string) => {
      const url = new URL(request.replace('GET ', ''), 'http://here');
      return url.pathname.endsWith(`/${id}`) && Number(url.searchParams.get('after')) >= version;
    };
    await eventually(() => expect(controller.requests.some(asksAfter)).toBe(true));
  }

  const stateOf = async (id: string) => (await bench.client.workflow(id)).state;
  const halts = () => controller.requests.filter((request) => request.endsWith('/halt')).length;

  it('the first Ctrl-C lets running tasks finish, the second kills them, and it can be resumed', async () => {
    const { env } = bench;
    const run = bench.drover('run', 'hang', ':::', '1', '2');
    await whenSeenRunning('w1', 2);
    env.raise('SIGINT');
    await eventually(async () => expect(await stateOf('w1')).toBe('halting'));
    expect(env.stderr.text).toContain('stopping: 2 running tasks may finish; Ctrl-C again kills\n');
    env.raise('SIGINT');
    expect(await run).toBe(130);
    expect(env.stderr.text).toContain('stopping now: killing 2 running tasks\n');
    expect(env.stderr.text).toContain('w1 halted: 0 of 2 tasks done, 2 left');
    expect(env.stderr.text).toContain('drover resume w1\n');
    expect([bench.closed, env.isListening]).toEqual([1, false]);
  });

  it('the first Ctrl-C starts no task that waits', async () => {
    const run = bench.drover('run', '{}', ':::', 'hang-1', 'hang-2', 'hang-3', 'hang-4', 'ok');
    await whenSeenRunning('w1', 4);
    bench.env.raise('SIGINT');
    await eventually(async () => expect(await stateOf('w1')).toBe('halting'));
    for (const index of [1, 2, 3, 4]) await bench.client.cancelTask(`w1.${index}`);
    expect(await run).toBe(130);
    expect(bench.env.stderr.text).toContain('w1 halted: 0 of 5 tasks done, 4 cancelled, 1 left');
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('%s kills at once and waits for nobody else', async (signal) => {
    await startOther();
    const run = bench.drover('run', '--json', 'hang', ':::', '1');
    await whenSeenRunning('w2', 1);
    bench.env.raise(signal);
    expect(await run).toBe(130);
    expect(bench.lastJson()).toMatchObject({ id: 'w2', state: 'halted', done: 0 });
    expect([bench.closed, halts()]).toEqual([1, 1]);
  });

  it('the third Ctrl-C waits no longer for a task that cannot be killed', async () => {
    const { env } = bench;
    const run = bench.drover('run', 'stuck', ':::', '1');
    await whenSeenRunning('w1', 1);
    env.raise('SIGINT');
    env.raise('SIGINT');
    await eventually(async () => expect(await bench.client.workflow('w1')).toMatchObject({ haltMode: 'kill' }));
    expect(bench.closed).toBe(0);
    env.raise('SIGINT');
    expect(await run).toBe(130);
    expect(bench.closed).toBe(1);
  });

  it('Ctrl-C while tasks are read starts nothing', async () => {
    const { env } = bench;
    env.readStdin = async function* () {
      yield Buffer.from('echo 1\n');
      env.raise('SIGINT');
      await new Promise(() => undefined);
    };
    expect(await bench.drover('run', '-')).toBe(130);
    expect(await bench.client.workflows()).toEqual({ workflows: [] });
    expect(env.stderr.text).toContain('interrupted, nothing was started');
    expect(bench.closed).toBe(1);
  });

  it('Ctrl-C ends the wait for runs of others', async () => {
    await startOther();
    const run = bench.drover('run', 'echo', ':::', '1');
    await eventually(() => expect(bench.env.stderr.text).toContain('waiting for w1'));
    bench.env.raise('SIGINT');
    expect(await run).toBe(0);
    expect(bench.closed).toBe(1);
  });
});
