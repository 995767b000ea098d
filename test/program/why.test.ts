/** `drover why` at real servers with real workers: tasks in as many states as the program brings them into, and what it says. */
import { copyFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { TaskSpec, WorkflowSpec } from '../../src/protocol/spec.ts';
import type { TaskWhyView } from '../../src/protocol/why.ts';
import { plainSpec } from '../controller/spec.ts';
import { lastJson, until } from './drover.ts';
import { Herd } from './herd.ts';

const shown = (title: string, show: (herd: Herd) => Promise<void>) =>
  it.concurrent(title, { timeout: 90_000 }, async () => {
    const herd = new Herd();
    try {
      await show(herd);
    } finally {
      await herd.close();
    }
  });

const untilLetGo = 'until [ -e go ]; do sleep 0.05; done';

async function submit(herd: Herd, tasks: readonly TaskSpec[], spec: Partial<WorkflowSpec> = {}): Promise<string> {
  const whole = { ...plainSpec, cwd: herd.path, ...spec };
  return (await herd.client.submitWhole(whole, { tasks: [...tasks], edges: [] })).id;
}

const views = (herd: Herd, id: string): Promise<object> =>
  id.includes('.') ? herd.client.why(id) : herd.client.whyOf(id);

/** What the command says, once that is what it should be: the state itself may take a moment, and a command costs more than a look. */
function says(herd: Herd, id: string, wanted: string): Promise<string> {
  return herd.untilSome(`drover why ${id} says ${wanted}`, async () => {
    if (!JSON.stringify(await views(herd, id)).includes(wanted)) return undefined;
    const text = await herd.ok('why', id);
    return text.includes(wanted) && text;
  });
}

shown('names what a task waits for, and what to do about it', async (herd) => {
  await herd.server();
  await herd.client.setLimit('matlab', 1);
  const w1 = await submit(herd, [{ command: 'true' }]);
  expect(await herd.ok('why', `${w1}.1`)).toBe('w1.1 is queued:\n  there is no worker\n    drover worker\n');

  await herd.worker('-j', '1', '--memory', '1GB');
  await herd.untilTask('w1.1', 'done');
  expect(await herd.ok('why', 'w1.1')).toBe('w1.1 is done:\n  it has ended well\n');
  expect(await herd.ok('why', 'w1')).toContain('w1 is done: no task of it is left\n  it has ended well\n');

  // Nothing ends here, so that nothing is sent ahead. The first holds all there is of a limit, of a template, and of scratch space.
  await herd.worker('-j', '3', '--queue', 'calm', '--pool', 'scratch=2');
  const groups = { concurrency: { templates: { fit: 1 } } };
  const asking = { resources: { queue: 'calm', limits: { matlab: 1 }, pools: { scratch: 2 } }, template: 'fit' };
  const w2 = await submit(
    herd,
    [
      { command: untilLetGo, ...asking },
      { command: 'true', template: 'fit', resources: { queue: 'calm' } },
    ],
    groups,
  );
  await herd.untilTask(`${w2}.1`, 'running');
  expect(await says(herd, 'w2.1', 'it has been running')).toMatch(
    /^w2.1 is running:\n {2}it has been running on k2 on host \S+ for .* m?s\n {4}drover logs w2.1 -f\n$/,
  );
  expect(await herd.ok('why', 'w2.2')).toBe(
    'w2.2 is queued:\n  1 task of template fit runs, and at most 1 may\n    drover concurrency w2 --template fit=none\n',
  );
  const w3 = await submit(herd, [
    { command: 'true', resources: { limits: { matlab: 1 } } },
    { command: 'true', resources: { queue: 'calm', pools: { scratch: 1.5 } } },
    { command: 'true', resources: { memoryBytes: 2e9 } },
    { command: 'true', resources: { cpus: 8 } },
    { command: 'true', resources: { queue: 'big' } },
    { command: 'true', held: true },
  ]);
  const saysOf = (index: number) => herd.ok('why', `${w3}.${index}`);
  expect(await saysOf(1)).toBe(
    "w3.1 is queued:\n  it asks for 1 of the limit 'matlab', of which 1 of 1 are in use by w2.1\n    drover limit matlab 2\n",
  );
  expect(await saysOf(2)).toMatch(
    /k2 on host \S+ has no room now: it asks for 1.5 of scratch, of which 0 are free; it has w2.1\n$/,
  );
  expect(await saysOf(3)).toMatch(
    /it asks for 1.9 GiB of memory; the nearest of 1 worker of queue 'default', k1 on host \S+, has 953.7 MiB\n {4}drover worker -j 1 --memory 2GB\n$/,
  );
  expect(await saysOf(4)).toContain('    drover worker slots k1 8\n    drover worker -j 8\n');
  expect(await saysOf(5)).toContain(
    "it asks for queue 'big', which no worker has; there is 'calm', 'default'\n    drover worker --queue big\n",
  );
  expect(await saysOf(6)).toBe('w3.6 is waiting:\n  it is held\n    drover release w3.6\n');

  const chain = { ...plainSpec, cwd: herd.path };
  const tasks = [{ command: 'true', held: true as const }, { command: 'true' }, { command: 'true' }];
  const after = (parent: number, child: number) => ({
    ...{ parents: [parent, parent] as [number, number], children: [child, child] as [number, number] },
    after: 'success' as const,
  });
  const { id: w4 } = await herd.client.submitWhole(chain, { tasks, edges: [after(1, 2), after(2, 3)] });
  expect(await herd.ok('why', `${w4}.3`)).toBe(
    'w4.3 is waiting:\n  it waits for 1 task: w4.2 (waiting)\n' +
      'behind that is w4.1, 2 dependencies away, waiting:\n  it is held\n    drover release w4.1\n',
  );
  expect(await herd.ok('why', w4)).toContain('2 tasks: waiting for other tasks\n  such as w4.2:\n');
  await herd.ok('halt', w4);
  expect(await herd.ok('why', w4)).toContain('  it is halted\n    drover resume w4\n');
  await herd.ok('cancel', `${w4}.1`);
  await herd.client.resume(w4, 'hot');
  await herd.untilTask(`${w4}.3`, 'cancelled');
  expect(await herd.ok('why', `${w4}.3`)).toBe(
    'w4.3 is cancelled:\n  it was cancelled since what it depends on can not come any more: w4.2 (cancelled)\n' +
      'behind that is w4.1, 2 dependencies away, cancelled:\n  it was cancelled by command\n    drover retry w4.1\n',
  );

  // Back-offs double: the command comes in time for one of them.
  const w5 = await submit(herd, [{ command: 'exit 7' }], { maxAttempts: 20 });
  expect(await says(herd, w5, 'before it is tried again')).toMatch(
    /it waits for another .* before it is tried again, after attempt \d+: exit 7\n/,
  );
  const w6 = await submit(herd, [{ command: 'exit 9' }]);
  await herd.untilTask(`${w6}.1`, 'failed');
  expect(await herd.ok('why', `${w6}.1`)).toBe(
    'w6.1 is failed:\n  it failed: exit 9\n    drover logs w6.1 --stderr\n    drover retry w6.1\n',
  );

  // What has waited for so long gets a worker for itself, and nothing else would be started there.
  await herd.ok('cancel', w3);
  const w7 = await submit(
    herd,
    Array.from({ length: 6 }, () => ({ command: untilLetGo, resources: { queue: 'calm' } })),
  );
  await herd.untilSome('two slots are taken', async () => (await herd.client.workflow(w7)).counts.running === 2);
  await says(herd, `${w7}.6`, 'none of the 3 slots of 1 worker that could run it is free');
  const busy = lastJson(await herd.ok('why', `${w7}.6`, '--json')) as unknown as TaskWhyView;
  expect(busy.reasons.map(({ kind }) => kind)).toEqual(['slots-busy', 'behind']);
  expect(busy.reasons[1]).toMatchObject({ taskCount: 3, text: 'about 3 tasks of its priority go first' });
  expect(await herd.ok('why', w7)).toMatch(/^w7 is running: 6 tasks not ended\n\n4 tasks: all slots are busy\n/);
  await herd.ok('concurrency', w7, '2');
  expect(await says(herd, `${w7}.6`, 'may')).toContain('2 tasks of its workflow w7 run, and at most 2 may\n');
  herd.write('go');
});

shown('tells of a worker that is silent, drained or not there', async (herd) => {
  await herd.server('--preset', 'interactive');
  const worker = await herd.worker('-j', '1');
  const w1 = await submit(herd, [{ command: untilLetGo }, { command: 'true' }]);
  await herd.untilTask(`${w1}.1`, 'running');
  worker.child.kill('SIGSTOP');
  expect(await says(herd, 'w1.1', 'unhealthy')).toMatch(
    /k1 on host \S+ is unhealthy: no heartbeat; what it has is given up in 1?\d(\.\d)? s unless that changes\n/,
  );
  expect(await herd.ok('why', 'w1.2')).toMatch(
    /no worker that could run it gets tasks: k1 on host \S+ \(unhealthy: no heartbeat\)\n {4}drover workers\n$/,
  );
  worker.child.kill('SIGCONT');
  await herd.untilSome('it is well again', async () => (await herd.workerView('k1'))?.state === 'healthy');
  await herd.ok('worker', 'drain', 'k1');
  expect(await says(herd, 'w1.2', 'drained')).toContain('(drained: by command)\n    drover worker release k1\n');
  await herd.ok('worker', 'release', 'k1');
  await says(herd, 'w1.2', 'the only slot of 1 worker that could run it is not free');
  herd.write('go');
  await herd.untilTask('w1.2', 'done');
});

shown('tells of a controller that launches nothing since its store is an old one', async (herd) => {
  const first = await herd.server('--preset', 'interactive');
  await submit(herd, [{ command: 'true' }]);
  first.child.kill('SIGTERM');
  await first.ended;
  copyFileSync(herd.file('.drover/drover.db'), herd.file('backup.db'));
  const second = await herd.server('--preset', 'interactive');
  await herd.worker('-j', '1');
  await herd.untilTask('w1.1', 'done');
  // A worker tells the next controller how far this one had come, as it was told with its last heartbeat.
  await herd.untilSome('it is heard again', async () => ((await herd.workerView('k1'))?.heardAgoMs ?? 9_999) < 900);
  second.child.kill('SIGKILL');
  await second.ended;
  for (const name of ['drover.db-wal', 'drover.db-shm']) rmSync(herd.file(`.drover/${name}`), { force: true });
  copyFileSync(herd.file('backup.db'), herd.file('.drover/drover.db'));
  await herd.server('--preset', 'interactive');
  expect(await says(herd, 'w1.1', 'launches nothing')).toMatch(
    /the controller launches nothing for another .*: its store is older than what a worker remembers/,
  );
  await herd.untilTask('w1.1', 'done', 60_000);
});

shown('says once to who waits that nothing moves, and why', async (herd) => {
  await herd.server();
  await submit(herd, [{ command: 'true', held: true }]);
  const waiting = herd.start(['wait', 'w1']);
  const wanted = "drover: nothing moves: w1.1: it is held; drover release w1.1; 'drover why w1' tells more\n";
  await until('it is said', () => waiting.stderr().includes(wanted), 30_000);
  await herd.ok('cancel', 'w1');
  expect((await waiting.ended).stderr.split('nothing moves')).toHaveLength(2);
});

shown('refuses what is not there', async (herd) => {
  await herd.server();
  await submit(herd, [{ command: 'true' }]);
  expect(await herd.run('why', 'w9')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no workflow w9'),
  });
  expect(await herd.run('why', 'w1.9')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no task w1.9'),
  });
  expect(await herd.run('why', 'w1.1#2')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('name its task: w1.1'),
  });
  expect(await herd.run('why', 'k1')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('names no workflow or task'),
  });
  expect(await herd.run('why')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("missing required argument 'id'"),
  });
});
