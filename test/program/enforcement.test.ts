/** Tasks that use more than they asked for, on a real worker; and what only looks like it. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Resources, TaskSpec, WorkflowSpec } from '../../src/protocol/spec.ts';
import type { TaskDetail } from '../../src/protocol/views/tasks.ts';
import { mark, sleepers } from './drover.ts';
import { Herd } from './herd.ts';

const megabyte = 1024 * 1024;
const herd = new Herd();

beforeAll(async () => {
  await herd.server();
  await herd.worker('-j', '3');
});
afterAll(() => herd.close());

async function submit(tasks: TaskSpec[], more: Partial<WorkflowSpec> = {}): Promise<string> {
  const rules = { maxAttempts: 1, terminationMs: 300, failFast: false, open: false };
  const env = { PATH: process.env.PATH ?? '' };
  const spec = { cwd: herd.path, shell: '/bin/bash', env, ...rules, ...more };
  return (await herd.client.submitWhole(spec, { tasks, edges: [] })).id;
}

/** How the first attempt of a task ended. */
async function firstEnd(task: TaskSpec, more?: Partial<WorkflowSpec>): Promise<TaskDetail['history'][number]> {
  const workflow = await submit([task], more);
  const ended = await herd.untilSome(`the end of ${workflow}.1`, async () => {
    const [first] = (await herd.task(`${workflow}.1`)).history;
    return first?.outcome === undefined ? undefined : first;
  });
  await herd.run('cancel', workflow);
  return ended;
}

/** Takes so many megabytes and stays. */
const take = (megabytes: number): string => `perl -e 'push @a, "x" x 1048576 for 1..${megabytes}; sleep 60'`;
const memory = (megabytes: number): Resources => ({ memoryBytes: megabytes * megabyte });

describe('a task that uses more memory than it asked for', () => {
  it.each([
    ['in one process', `exec ${take(3_000)}`],
    ['in several, none of which does alone', `${`${take(40)} & `.repeat(4)} wait`],
    ['in a daemon', `setsid -f ${take(3_000)}; sleep 60`],
    ['in a child, whose shell would go on', `${take(3_000)}; exit 0`],
    ['by reading a line without an end', 'tail /dev/zero'],
  ])('%s ends as that, with all of its processes', async (_, command) => {
    const long = mark();
    const { outcome, peakBytes } = await firstEnd({ command: `sleep ${long} & ${command}`, resources: memory(100) });
    expect(outcome).toEqual({ kind: 'resource', resource: 'memory' });
    expect(peakBytes).toBeGreaterThan(80 * megabyte);
    expect(sleepers(long)).toEqual([]);
  });

  it('is told from one that fails, or is killed, by itself', async () => {
    const [exited, killed, large] = await Promise.all([
      firstEnd({ command: 'exit 137', resources: memory(100) }),
      firstEnd({ command: 'kill -9 $$', resources: memory(100) }),
      firstEnd({ command: `perl -e 'push @a, "x" x 1048576 for 1..60'`, resources: memory(100) }),
    ]);
    expect(exited.outcome).toMatchObject({ kind: 'exited', code: 137 });
    expect(killed.outcome).toMatchObject({ kind: 'signalled', signal: 9 });
    expect(large.outcome).toMatchObject({ kind: 'succeeded' });
  });
});

describe('a task that takes longer than it asked for', () => {
  const stubborn = "trap '' TERM; while :; do sleep 0.05; done";

  it.each<[string, TaskSpec, object]>([
    ['and heeds no TERM, is killed', { command: stubborn, resources: { runtimeMs: 200 } }, {}],
    ['is told from one whose definer gave it less', { command: 'sleep 60', timeoutMs: 200 }, { by: 'timeout' }],
    [
      'is ended by the limit that comes first',
      { command: 'sleep 60', timeoutMs: 200, resources: { runtimeMs: 60_000 } },
      { by: 'timeout' },
    ],
  ])('%s', async (_, task, by) => {
    const { outcome, wallMs } = await firstEnd(task);
    expect(outcome).toEqual({ kind: 'resource', resource: 'runtime', ...by });
    expect(wallMs).toBeGreaterThanOrEqual(200);
  });
});

describe('a worker', () => {
  it('runs no more at a time than it has room for, in whatever order they come', async () => {
    const command = 'mkdir -p now; : > now/$DROVER_TASK_ID; ls now | wc -l >> most; sleep 0.1; rm now/$DROVER_TASK_ID';
    const of = (cpus: number): TaskSpec => ({ command, resources: { cpus } });
    const workflow = await submit([1.5, 1.5, 1.5, 2, 2, 3, 1.5, 1.5].map(of));
    await herd.untilSome('all are done', async () => (await herd.client.workflow(workflow)).state === 'done');
    const most = herd.lines('most').map(Number);
    expect([most.length, Math.max(...most)]).toEqual([8, 2]);
    expect(readdirSync(herd.file('now'))).toEqual([]);
  });

  it('keeps the output of tasks beside its slots, and tells them what they have', async () => {
    const command = 'echo $DROVER_CPUS $DROVER_MEMORY_BYTES >&2; seq 100000; cd $DROVER_TASK_DIR && pwd >&2';
    const workflow = await submit([{ command, resources: { cpus: 2, ...memory(200) } }]);
    await herd.untilTask(`${workflow}.1`, 'done');
    const lines = (await herd.ok('logs', `${workflow}.1`)).trimEnd().split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([100_000, '100000']);
    expect(await herd.ok('logs', `${workflow}.1`, '--stderr')).toMatch(/^2 209715200\n\/.*scratch-1\n$/);
  });
});
