/** What an operator does with workers, and what the controller does with sick ones: with real processes. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from './drover.ts';
import { Herd } from './herd.ts';

/** A task says that it runs, and runs until it is let go; `{}` is its value. */
const untilLetGo = (more = 'true') =>
  `echo $DROVER_WORKER {} >> begun; until [ -e go.{} ] || [ -e go ]; do sleep 0.05; done; ${more}`;

let herd: Herd;

beforeEach(() => {
  herd = new Herd();
});

afterEach(() => herd.close());

const isBegun = (line: string): boolean => herd.lines('begun').includes(line);

describe('a worker that is drained', () => {
  it('starts nothing new, goes on with what runs, and gives back what it had only accepted', async () => {
    await herd.server();
    await herd.worker('-j', '1');
    // Short ones first: from them the controller learns that it pays to send more than there are slots.
    await herd.ok('run', '--server', 'true', '--array', '1-40');
    await herd.ok('submit', untilLetGo(), ':::', 'a', 'b', 'c');
    await until('the first runs', () => isBegun('k1 a'));
    await herd.untilSome('others wait there', async () => ((await herd.workerView('k1'))?.attempts ?? 0) > 1);
    await herd.worker('-j', '1');
    expect(await herd.ok('worker', 'drain', 'k1')).toBe('k1 gets no more tasks; what runs there goes on\n');
    expect(await herd.ok('workers')).toMatch(/^k1 +native +healthy, drained +default +1 +.* by command$/m);
    await until('one that waited runs elsewhere', () => isBegun('k2 b'));
    herd.write('go.a');
    await herd.untilTask('w2.1', 'done');
    herd.write('go.b');
    await until('the last runs, too', () => isBegun('k2 c'));
    expect(herd.lines('begun')).toEqual(['k1 a', 'k2 b', 'k2 c']);
    expect((await herd.workerView('k1'))?.attempts).toBe(0);
    expect(await herd.ok('worker', 'release', 'k1')).toBe('k1 gets tasks again\n');
    await herd.ok('submit', untilLetGo(), ':::', 'd');
    await until('it works again', () => isBegun('k1 d'));
    herd.write('go');
    await herd.ok('wait', 'w2', 'w3');
    expect(await herd.history('w2.2')).toEqual(['k1 never-started', 'k2 succeeded']);
  });

  it('stays drained when the server comes back', async () => {
    const server = await herd.server();
    await herd.worker('-j', '1');
    await herd.ok('worker', 'drain', 'k1');
    server.child.kill('SIGKILL');
    await server.ended;
    await herd.server();
    await herd.untilSome('it is back', async () => (await herd.workerView('k1'))?.state === 'healthy');
    await herd.ok('submit', 'true', ':::', '1');
    expect((await herd.task('w1.1')).state).toBe('queued');
    await herd.ok('worker', 'release', 'k1');
    await herd.ok('wait', 'w1');
  });
});

describe('a worker that is told to stop', () => {
  it('ends at once when it runs nothing, with exit 0', async () => {
    await herd.server();
    const worker = await herd.worker('-j', '1');
    expect(await herd.ok('worker', 'stop', 'k1')).toBe('k1 ends when it has ended what it runs\n');
    expect(await worker.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('it was told to stop') });
    expect(await herd.workerView('k1')).toMatchObject({ state: 'gone' });
    const { code, stderr } = await herd.run('worker', 'drain', 'k1');
    expect([code, stderr]).toEqual([2, expect.stringContaining('k1 is gone: it ended by itself')]);
  });

  it('ends what it runs first, and takes nothing new', async () => {
    await herd.server();
    const worker = await herd.worker('-j', '2');
    await herd.ok('submit', untilLetGo('head -c 3000000 /dev/zero | tr "\\0" x'), ':::', 'a');
    await until('it runs', () => isBegun('k1 a'));
    await herd.ok('worker', 'stop', 'k1');
    await herd.ok('submit', untilLetGo(), ':::', 'b');
    expect(await herd.workerView('k1')).toMatchObject({ bar: 'stopping', reason: 'by command', attempts: 1 });
    expect(worker.child.exitCode).toBeNull();
    herd.write('go');
    expect((await worker.ended).code).toBe(0);
    expect(await herd.history('w1.1')).toEqual(['k1 succeeded']);
    // All of it: what did not travel with the end was fetched before.
    expect(await herd.ok('logs', 'w1.1')).toHaveLength(3_000_000);
    expect((await herd.task('w2.1')).state).toBe('queued');
  });

  it('with --now is gone at once: what it ran is lost, and runs elsewhere', async () => {
    await herd.server();
    const worker = await herd.worker('-j', '1');
    await herd.ok('submit', untilLetGo(), ':::', 'a');
    await until('it runs', () => isBegun('k1 a'));
    await herd.worker('-j', '1');
    expect(await herd.ok('worker', 'stop', '--now', 'k1')).toBe('k1 ends now; what ran there is tried again\n');
    expect((await worker.ended).code).toBe(0);
    herd.write('go');
    await herd.ok('wait', 'w1');
    expect(await herd.history('w1.1')).toEqual(['k1 lost worker', 'k2 succeeded']);
    expect(herd.lines('begun')).toEqual(['k1 a', 'k2 a']);
  });

  it('ends by the word of the next server, too', async () => {
    const server = await herd.server();
    const worker = await herd.worker('-j', '1');
    await herd.ok('submit', untilLetGo(), ':::', 'a');
    await until('it runs', () => isBegun('k1 a'));
    await herd.ok('worker', 'stop', 'k1');
    server.child.kill('SIGKILL');
    await server.ended;
    await herd.server();
    herd.write('go');
    expect((await worker.ended).code).toBe(0);
    expect(await herd.history('w1.1')).toEqual(['k1 succeeded']);
  });

  it('may be released before it has ended', async () => {
    await herd.server();
    await herd.worker('-j', '1');
    await herd.ok('submit', untilLetGo(), ':::', 'a', 'b');
    await until('it runs', () => isBegun('k1 a'));
    await herd.ok('worker', 'stop', 'k1');
    await herd.ok('worker', 'release', 'k1');
    herd.write('go');
    await herd.ok('wait', 'w1');
    expect(herd.lines('begun')).toEqual(['k1 a', 'k1 b']);
  });
});

it('the slots of a worker can be more, and fewer: as many tasks run', async () => {
  await herd.server();
  await herd.worker('-j', '1');
  const values = Array.from('abcdefghijkl');
  await herd.ok('submit', untilLetGo('echo {} >> ended'), ':::', ...values);
  const seen = () => herd.lines('begun').length;
  const letGo = (from: number, to: number) => {
    for (const value of values.slice(from, to)) herd.write(`go.${value}`);
  };
  await until('one runs', () => seen() === 1);
  expect(await herd.ok('worker', 'slots', 'k1', '3')).toBe('k1 is told its new number of slots\n');
  await until('three run', () => seen() === 3);
  expect(await herd.workerView('k1')).toMatchObject({ slots: 3 });
  await herd.ok('worker', 'slots', 'k1', '1');
  await herd.untilSome('it has fewer', async () => (await herd.workerView('k1'))?.slots === 1);
  letGo(0, 2);
  await herd.untilTask('w1.2', 'done');
  await herd.untilTask('w1.1', 'done');
  expect(seen()).toBe(3);
  letGo(2, 3);
  await until('the next runs alone', () => seen() === 4);
  // Fewer and more again, while what runs does not end: it counts on.
  await herd.ok('worker', 'slots', 'k1', '3');
  await until('three run again', () => seen() === 6);
  await herd.ok('worker', 'slots', 'k1', '1');
  await herd.ok('worker', 'slots', 'k1', '3');
  await herd.untilSome('it has them', async () => (await herd.workerView('k1'))?.slots === 3);
  letGo(3, 4);
  await herd.untilTask('w1.4', 'done');
  await until('one takes its place', () => seen() === 7);
  expect((await herd.client.workflow('w1')).counts.running).toBe(3);
  expect(seen() - herd.lines('ended').length).toBe(3);
  herd.write('go');
  await herd.ok('wait', 'w1');
  expect(herd.lines('begun')).toHaveLength(values.length);
});

describe('what can not be done with a worker', () => {
  const slots = 'the number of slots is 1 to 4096';
  const refusals: readonly (readonly [string, string])[] = [
    ['drain k99', 'there is no worker k99'],
    ['stop worker', 'there is no worker worker'],
    ['drain', 'which worker?'],
    ['slots 3', 'which worker?'],
    ['slots k1', slots],
    ['slots k1 0', slots],
    ['slots k1 4097', slots],
    ['slots k1 2.5', slots],
    ['drain --now k1', '--now is for stop, not for drain'],
    ['fire k1', "'fire' is invalid"],
  ];

  it('is refused with exit 2, and what is wrong', async () => {
    await herd.server();
    for (const [words, message] of refusals) {
      const { code, stdout, stderr } = await herd.run('worker', ...words.split(' '));
      expect([words, code, stdout, stderr]).toEqual([words, 2, '', expect.stringContaining(message)]);
    }
  });

  it.each([
    ['drain', 'k1'],
    ['stop', 'k1'],
    ['slots', 'k1', '2'],
    ['release', 'k1'],
  ])('%s, without a server', async (...words) => {
    const { code, stderr } = await herd.run('worker', ...words);
    expect([code, stderr]).toEqual([3, expect.stringContaining("start one with 'drover server --detach'")]);
  });

  it('anything, while it is not connected', async () => {
    const server = await herd.server();
    const worker = await herd.worker('-j', '1');
    herd.killAtOnce(worker);
    await herd.untilSome('that is noticed', async () => {
      const { code, stderr } = await herd.run('worker', 'drain', 'k1');
      return code === 3 && stderr.includes('k1 is not connected');
    });
    expect(server.child.exitCode).toBeNull();
  });
});
