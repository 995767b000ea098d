/** The commands that run nothing, `ls`, `show`, `logs` and `cancel`, at a real controller in this process. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

/** One for all: what has run as w1 stays as it is, and what is started beside it is a workflow of its own. */
beforeAll(async () => {
  controller = await startController();
  await new CliBench(controller.access).drover('run', '--name', 'first', '{}', ':::', 'ok', 'fail');
});

afterAll(() => controller.close());

beforeEach(() => {
  bench = new CliBench(controller.access);
});

interface OtherRun {
  readonly id: string;
  /** How it exits. */
  readonly code: Promise<number>;
}

/** Somebody else's run, of one task that goes on until it is stopped. */
async function startHanging(): Promise<OtherRun> {
  const code = new CliBench(controller.access).drover('run', 'hang', ':::', '1');
  const id = await eventually(async () => {
    const [newest] = (await bench.client.workflows({ limit: 1 })).workflows;
    expect(newest).toMatchObject({ state: 'running', counts: { running: 1 } });
    return newest?.id ?? '';
  });
  return { id, code };
}

describe('ls', () => {
  it('lists workflows', async () => {
    expect(await bench.drover('ls')).toBe(0);
    const { lines } = bench.env.stdout;
    expect(lines.at(0)).toMatch(/^ID +STATE +DONE +FAILED +STARTED +TOOK +NAME$/);
    expect(lines.at(-1)).toMatch(/^w1 +failed +1\/2 +1 +\d{4}-\d\d-\d\d \S+ +\d+ ms +first$/);
    expect(bench.opened.at(-1)).toEqual({});
    await bench.drover('ls', '--json');
    expect(bench.lastJson()).toMatchObject({ id: 'w1', counts: { total: 2 } });
  });
});

describe('show', () => {
  it('shows a workflow, its tasks by state, and a task', async () => {
    const { stdout, stderr } = bench.env;
    await bench.drover('show', 'w1', '--state', 'failed');
    expect(stdout.text).toContain('tasks     2, 1 done, 1 failed\n');
    expect(stdout.text).toMatch(/^w1\.2 {2}failed +1 {2}exit 1 +fail$/m);
    expect(stdout.text).not.toContain('w1.1');
    await bench.drover('show', 'w1', '--json');
    expect(bench.lastJson().tasks).toHaveLength(2);
    await bench.drover('show', 'w1.1', '--json');
    expect(bench.lastJson()).toMatchObject({ id: 'w1.1', command: 'ok', history: [{ id: 'w1.1#1', worker: 'k1' }] });
    expect(await bench.drover('show', 'w1', '--state', 'borked')).toBe(2);
    expect(stderr.text).toContain('the states are registering, ');
  });

  it('says what is not there', async () => {
    expect(await bench.drover('show', 'w7')).toBe(2);
    expect(await bench.drover('show', 'w1.9')).toBe(2);
    expect(bench.env.stderr.lines).toEqual([
      'drover: there is no workflow w7',
      "  list what there is with 'drover ls'",
      'drover: there is no task w1.9',
      "  list what there is with 'drover ls'",
    ]);
  });
});

describe('logs', () => {
  it('prints the bytes as they are', async () => {
    const { stdout, stderr } = bench.env;
    expect(await bench.drover('logs', 'w1.1')).toBe(0);
    expect(stdout.text).toBe('out of ok');
    expect(stderr.text).toBe('');
    expect(await bench.drover('logs', '-f', 'w1.1#1')).toBe(0);
    expect(stdout.text).toBe('out of okout of ok');
    stdout.isClosed = true;
    expect(await bench.drover('logs', 'w1.1')).toBe(0);
  });

  it('follows a task until its end', async () => {
    const { id, code } = await startHanging();
    const following = bench.drover('logs', '-f', `${id}.1`);
    await eventually(() => expect(bench.env.stdout.text).toBe('out of hang 1'));
    await bench.client.cancel(id);
    expect(await Promise.all([following, code])).toEqual([0, 1]);
    expect(bench.env.stdout.text).toBe('out of hang 1');
  });
});

describe('cancel', () => {
  it('reports each, and what has ended is no error', async () => {
    const { stdout } = bench.env;
    expect(await bench.drover('cancel', 'w1', 'w1.1')).toBe(0);
    expect(stdout.lines).toEqual(['w1 had ended already: failed', 'w1.1 had ended already: done']);
    expect(await bench.drover('cancel', 'w7', 'w1', '--json')).toBe(2);
    expect(stdout.lines.slice(2).map((line) => JSON.parse(line))).toEqual([
      {
        id: 'w7',
        error: {
          code: 'workflow-unknown',
          message: 'there is no workflow w7',
          hint: "list what there is with 'drover ls'",
        },
      },
      { id: 'w1', state: 'failed' },
    ]);
  });

  it('ends what runs, whose run says so', async () => {
    const { id, code } = await startHanging();
    expect(await bench.drover('cancel', id)).toBe(0);
    expect(bench.env.stdout.text).toBe(`${id} is being cancelled, with 1 running task\n`);
    expect(await code).toBe(1);
    expect(await bench.client.workflow(id)).toMatchObject({ state: 'cancelled', counts: { cancelled: 1 } });
  });

  it('refuses a name that is none before anything is done', async () => {
    expect(await bench.drover('cancel', 'w1', 'job7')).toBe(2);
    expect(bench.env.stderr.text).toContain("drover: 'job7' names no workflow or task\n  name a workflow as w3");
    expect(bench.opened).toEqual([]);
  });
});
