/** `drover why` at real servers with real workers: tasks in as many states as the program brings them into, and what it says. */
import { copyFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commitRowsMax } from '../../src/model/limits.ts';
import { type ReasonKind, reasonKinds } from '../../src/model/reasons.ts';
import type { EdgeSpec, TaskSpec, WorkflowSpec } from '../../src/protocol/spec.ts';
import type { TaskWhyView, WorkflowWhyView } from '../../src/protocol/views/why.ts';
import { WorkerClient } from '../../src/sdk/worker-client.ts';
import { plainSpec } from '../controller/spec.ts';
import { childrenOf, type Ended, lastJson, until } from './drover.ts';
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

/** Of all tests here. */
const told = new Set<ReasonKind>();

async function viewOf(herd: Herd, id: string): Promise<TaskWhyView | WorkflowWhyView> {
  const view = await (id.includes('.') ? herd.client.why(id) : herd.client.whyOf(id));
  const examples = 'groups' in view ? view.groups.flatMap(({ example }) => example.reasons) : [];
  for (const { kind } of [...view.reasons, ...examples]) told.add(kind);
  return view;
}

/** What the command says. */
async function said(herd: Herd, id: string): Promise<string> {
  const [text] = await Promise.all([herd.ok('why', id), viewOf(herd, id)]);
  return text;
}

/** What the command says, once that is what it should be: the state itself may take a moment, and a command costs more than a look. */
function says(herd: Herd, id: string, wanted: string): Promise<string> {
  return herd.untilSome(`drover why ${id} says ${wanted}`, async () => {
    if (!JSON.stringify(await viewOf(herd, id)).includes(wanted)) return undefined;
    const text = await herd.ok('why', id);
    return text.includes(wanted) && text;
  });
}

/** Runs the first command that it recommends, as it is printed. */
function pasted(herd: Herd, text: string): Promise<Ended> {
  const command = text.split('\n').find((line) => /^ +drover /.test(line));
  return herd.script(['sh', '-c', `drover() { "$0" "$@"; }\n${command}`, herd.launcher]).ended;
}

const untilHealthy = (herd: Herd, id: string): Promise<boolean> =>
  herd.untilSome(`${id} is well`, async () => (await herd.workerView(id))?.state === 'healthy');

const after = (parent: number, child: number): EdgeSpec => ({
  ...{ parents: [parent, parent], children: [child, child], after: 'success' },
});

shown('names what a task waits for, and what to do about it', async (herd) => {
  await herd.server();
  await herd.client.setLimit('matlab', 1);
  const w1 = await submit(herd, [{ command: 'true' }]);
  expect(await said(herd, `${w1}.1`)).toBe('w1.1 is queued:\n  there is no worker\n    drover worker\n');

  await herd.worker('-j', '1', '--memory', '1GB');
  await herd.untilTask('w1.1', 'done');
  expect(await said(herd, 'w1.1')).toBe('w1.1 is done:\n  it has ended well\n');
  expect(await said(herd, 'w1')).toContain('w1 is done: no task of it is left\n  it has ended well\n');

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
  expect(await said(herd, 'w2.2')).toBe(
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
  const saysOf = (index: number) => said(herd, `${w3}.${index}`);
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
  const { id: w4 } = await herd.client.submitWhole(chain, { tasks, edges: [after(1, 2), after(2, 3)] });
  expect(await said(herd, `${w4}.3`)).toBe(
    'w4.3 is waiting:\n  it waits for 1 task: w4.2 (waiting)\n' +
      'behind that is w4.1, 2 dependencies away, waiting:\n  it is held\n    drover release w4.1\n',
  );
  expect(await said(herd, w4)).toContain('2 tasks: waiting for other tasks\n  such as w4.2:\n');
  await herd.ok('halt', w4);
  expect(await said(herd, w4)).toContain('  it is halted\n    drover resume w4\n');
  await herd.ok('cancel', `${w4}.1`);
  await herd.client.resume(w4, 'hot');
  await herd.untilTask(`${w4}.3`, 'cancelled');
  expect(await said(herd, `${w4}.3`)).toBe(
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
  expect(await said(herd, `${w6}.1`)).toBe(
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
  expect(await said(herd, w7)).toMatch(/^w7 is running: 6 tasks not ended\n\n4 tasks: all slots are busy\n/);
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
  expect(await said(herd, 'w1.2')).toMatch(
    /no worker that could run it gets tasks: k1 on host \S+ \(unhealthy: no heartbeat\)\n {4}drover workers\n$/,
  );
  worker.child.kill('SIGCONT');
  await untilHealthy(herd, 'k1');
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

shown('tells of what is not submitted yet, or never was, and of what a worker has, or may have', async (herd) => {
  await herd.server();
  const spec = { ...plainSpec, cwd: herd.path };
  await herd.client.register(spec);
  await herd.client.extend('w1', { tasks: [{ command: 'true' }, { command: 'true' }], edges: [after(1, 2)] });
  expect(await said(herd, 'w1')).toMatch(
    /^w1 is registering: 2 tasks not ended\n {2}it is still being submitted; it is given up in .* if no more is heard of it\n\n2 tasks: still being submitted\n {2}such as w1.1:\n {4}its workflow w1 is still being submitted; .*\n$/,
  );
  await herd.ok('cancel', 'w1');
  expect(await said(herd, 'w1.2')).toBe(
    'w1.2 is aborted:\n  w1 was given up before all of it was there, and has to be submitted again\n',
  );
  await herd.client.register({ ...spec, open: true });
  const open = await said(herd, 'w2');
  expect(open).toBe('w2 is running: no task of it is left\n  it is open: more tasks may come\n    drover close w2\n');
  expect(await pasted(herd, open)).toMatchObject({ code: 0, stdout: 'w2 is done, and closed\n' });

  // It takes over what it is sent, and does not start it.
  const worker = await herd.worker('-j', '8');
  await untilHealthy(herd, 'k1');
  for (const spawner of childrenOf(worker.pid)) process.kill(spawner, 'SIGSTOP');
  await submit(herd, [{ command: 'true' }]);
  expect(await says(herd, 'w3.1', 'is about to start it')).toMatch(
    /^w3.1 is launched:\n {2}it was sent to k1 on host \S+ .* ago, which is about to start it\n$/,
  );
  for (const spawner of childrenOf(worker.pid)) process.kill(spawner, 'SIGCONT');
  await herd.untilTask('w3.1', 'done');

  // What took so little time was not the last: another is sent ahead of a free slot.
  const stubborn = `trap '' TERM; touch ready; ${untilLetGo}`;
  const sleepers = Array.from({ length: 7 }, () => ({ command: 'sleep 600' }));
  await submit(herd, [{ command: stubborn }, ...sleepers, { command: 'true' }], { terminationMs: 60_000 });
  expect(await says(herd, 'w4.9', 'next in line')).toMatch(
    /^w4.9 is launched:\n {2}it is at k1 on host \S+ and waits until there is room, next in line\n$/,
  );
  await until('it does not heed TERM', () => herd.has('ready'));
  await herd.ok('cancel', 'w4');
  expect(await said(herd, 'w4.1')).toMatch(
    /^w4.1 is cancelling:\n {2}it is being cancelled, by command: k1 on host \S+ ends its process\n$/,
  );
  expect(await said(herd, 'w4')).toContain('\n  it is being cancelled\n');
  herd.write('go');
  await herd.untilTask('w4.1', 'cancelled');

  // Nobody answers; then it is gone, and nobody knows.
  worker.child.kill('SIGSTOP');
  await submit(herd, [{ command: 'true' }]);
  expect(await says(herd, 'w5.1', 'has not answered yet')).toMatch(
    /^w5.1 is launched:\n {2}it was sent to k1 on host \S+ .* ago, which has not answered yet\n$/,
  );
  herd.killAtOnce(worker);
  const unsure = await says(herd, 'w5.1', 'nobody knows');
  expect(unsure).toMatch(
    /^w5.1 is launched:\n {2}it was sent to k1 on host \S+, and nobody knows whether it arrived: the worker is asked when it is connected again\n {2}k1 on host \S+ is not connected; what it has is given up in 1?\dm .* unless that changes; if it is dead, a worker that is started there shows that at once\n {4}drover workers\n$/,
  );
  expect(await pasted(herd, unsure)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^k1 .* not connected$/m),
  });
  await herd.worker('-j', '1');
  expect((await herd.history('w5.1'))[0]).toBe('k1 lost worker');
});

shown('tells of room that is kept for others, and of a worker that may be at fault', async (herd) => {
  await herd.server();
  await herd.worker('-j', '2', '--queue', 'narrow');
  await herd.worker('-j', '4', '--queue', 'odd');
  for (const id of ['k1', 'k2']) await untilHealthy(herd, id);
  const narrow = { resources: { queue: 'narrow' } };
  const untilThere = (name: string) => `until [ -e ${name} ]; do sleep 0.05; done`;

  // What needs both slots is passed by what needs one, and will not be for ever.
  await submit(herd, [{ command: untilThere('first'), ...narrow }]);
  await herd.untilTask('w1.1', 'running');
  await submit(herd, [{ command: 'true', resources: { queue: 'narrow', cpus: 2 } }]);
  await submit(herd, [{ command: untilThere('second'), ...narrow }]);
  await herd.untilTask('w3.1', 'running');

  // Meanwhile one task after the other fails on the other worker, and this one does well.
  const failing = { command: `${untilThere('fail$DROVER_INDEX')}; exit 3`, resources: { queue: 'odd' } };
  await submit(herd, [failing, failing, failing, failing]);
  await herd.untilSome('all run', async () => (await herd.client.workflow('w4')).counts.running === 4);
  herd.write('fail1');
  await herd.untilTask('w4.1', 'failed');
  herd.write('first');
  await herd.untilTask('w1.1', 'done');
  herd.write('fail2');
  await herd.untilTask('w4.2', 'failed');
  herd.write('fail3');
  expect(await says(herd, 'w4.3', 'has room, on which it failed')).toMatch(
    /^w4.3 is queued:\n {2}only k2 on host \S+ has room, on which it failed: it is to show elsewhere whether that worker is at fault, and waits for another .*s at most\n$/,
  );
  herd.write('fail4');
  expect(await says(herd, 'w4.4', 'suspected')).toMatch(
    /^w4.4 is triaging:\n {2}it failed on k2 on host \S+, which is suspected to be at fault: first w4.3 is tried elsewhere, for another .*s at most\n$/,
  );

  expect(await says(herd, 'w2.1', 'gets nothing else')).toMatch(
    /^w2.1 is queued:\n {2}it asks for 2 cpus, and k1 on host \S+, the nearest of 1 worker that could run it, has 1 free\n {2}k1 on host \S+ gets nothing else until it, or one like it, fits there\n$/,
  );
  const inAnHour = Date.now() + 3_600_000;
  await submit(herd, [
    { command: 'true', until: inAnHour, ...narrow },
    { command: 'true', priority: 5, ...narrow },
  ]);
  const kept = await said(herd, 'w5.1');
  expect(kept).toMatch(
    /^w5.1 is queued:\n {2}k1 on host \S+ has room that is kept for a task which has waited longer, and asks for 2 cpus\n {2}about 1 task of a higher priority than 0 goes first\n {4}drover priority 6 w5.1\n {2}it fails unless it is started in (1h 0m|\d+m \d+s)\n$/,
  );
  expect(await pasted(herd, kept)).toMatchObject({ code: 0, stdout: 'w5.1 is queued, priority 6\n' });
  expect(await said(herd, 'w5.1')).not.toContain('higher priority');

  const { url, tokens } = herd.access;
  await WorkerClient.register({ url, token: tokens.worker }, { name: 'by hand', slots: 1 });
  await submit(herd, [{ command: 'true' }]);
  expect(await said(herd, 'w6.1')).toMatch(
    /^w6.1 is queued:\n {2}only workers over HTTP could run it, and none has claimed it: k3 on host \S+\n$/,
  );
  herd.write('second');
  await herd.untilTask('w5.1', 'done');
});

/** Of more changes than a turn makes several turns are made, and whoever asks is answered between two of them. */
const crowd = 4 * commitRowsMax;
const fleeting = ['workflow-starting', 'settling', 'next'] as const;

shown('tells of what the controller is about to do, if there is more of it than it does at once', async (herd) => {
  await herd.server();
  await herd.worker('-j', '2');
  function* tasks(): Generator<TaskSpec | EdgeSpec> {
    yield { command: '[ -e good ]' };
    yield { parents: [1, 1], children: [2, crowd], after: 'success' };
    for (let index = 2; index <= crowd; index++) yield { command: 'true' };
  }
  const texts = new Map<ReasonKind, string>();
  // Once is enough, as good as always; but nothing keeps somebody who asks from coming too late.
  await herd.untilSome(
    'all of them were told',
    async () => {
      rmSync(herd.file('good'), { force: true });
      const { id } = await herd.client.submitByLines({ ...plainSpec, cwd: herd.path }, tasks());
      await herd.untilSome('it has failed', async () => (await herd.client.workflow(id)).endedAt !== undefined);
      herd.write('good');
      let isOver = false;
      const look = async (index: number): Promise<void> => {
        while (!isOver)
          for (const { kind, text } of (await viewOf(herd, `${id}.${index}`)).reasons) texts.set(kind, text);
      };
      const looks = [1, 2, crowd].map(look);
      await herd.client.resume(id, 'hot');
      await herd.untilSome('all were let go', async () => (await herd.client.workflow(id)).counts.done > 1);
      isOver = true;
      await Promise.all(looks);
      expect(texts.get('workflow-starting') ?? '').toMatch(/^(its workflow \S+ is about to begin \(\w+\))?$/);
      await herd.client.cancel(id);
      return fleeting.every((kind) => texts.has(kind));
    },
    60_000,
  );
  expect(texts.get('settling')).toBe('all that it waited for is there: it is about to be queued');
  expect(texts.get('next')).toBe('1 worker has room: it is about to be sent');
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

/** After the others, which run side by side. */
it('all of that together tells every reason that there is', () => {
  expect(reasonKinds.filter((kind) => !told.has(kind))).toEqual([]);
});
