/** A server that is killed, is away for a while, and comes back: with real processes. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readQuietly, until } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;

beforeEach(() => {
  herd = new Herd();
});

afterEach(() => herd.close());

/** Longer than a worker of the preset `interactive` is borne: 13 s, and a margin of 5 s. */
const awayMs = 20_000;

const untilLetGo = 'echo {} >> begun; until [ -e go.{} ]; do sleep 0.1; done; echo end {} | tee -a ended';

it('costs nothing when it is killed, and away for longer than others would bear', { timeout: 90_000 }, async () => {
  const server = await herd.server();
  const workers = [await herd.worker('-j', '2'), await herd.worker('-j', '2')];
  await herd.ok('submit', untilLetGo, ':::', 'a', 'b', 'c', 'd');
  await until('all run', () => herd.lines('begun').length === 4);
  const waiting = herd.start(['wait', 'w1']);
  await until('somebody waits for them', () => waiting.stderr().includes('w1: 4 tasks'));
  server.child.kill('SIGKILL');
  await server.ended;
  const awayUntil = performance.now() + awayMs;
  herd.write('go.b');
  await until('one ends meanwhile', () => herd.lines('ended').includes('end b'));
  await until('it was away for long', () => performance.now() >= awayUntil, 2 * awayMs);
  await herd.server();
  await herd.ok('submit', 'touch new.{}', ':::', 'x');
  await herd.untilTask('w2.1', 'done');
  // Nobody has to wait for those who are away: it goes to the first who is back and has a slot.
  const [{ startedAt = '' } = {}] = (await herd.task('w2.1')).history;
  const { createdAt } = await herd.client.workflow('w2');
  expect(Date.parse(startedAt) - Date.parse(createdAt)).toBeLessThan(2_000);
  await herd.untilTask('w1.2', 'done');
  expect((await herd.task('w1.1')).state).toBe('running');
  for (const value of ['a', 'c', 'd']) herd.write(`go.${value}`);
  expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'end a\nend b\nend c\nend d\n' });
  expect(herd.lines('begun').sort()).toEqual(['a', 'b', 'c', 'd']);
  for (const index of [1, 2, 3, 4]) {
    expect(await herd.history(`w1.${index}`)).toEqual([expect.stringMatching(/^k[12] succeeded$/)]);
  }
  for (const { child } of workers) expect(child.exitCode).toBeNull();
  expect((await herd.workers()).map(({ id, state }) => `${id} ${state}`)).toEqual(['k1 healthy', 'k2 healthy']);
});

it('in the background has all the options that it was given', async () => {
  const check = `test -e ${herd.file('well')}`;
  const options = ['--preset', 'interactive', '--health-check', check, '--allow-bump-unhealthy-worker'];
  await herd.ok('server', '--detach', ...options, '--log-level', 'debug', '--listen', '127.0.0.1:0');
  try {
    const { pid } = await herd.client.server();
    const words = readQuietly(`/proc/${pid}/cmdline`).split('\0');
    expect(words).toEqual(expect.arrayContaining([...options, '--log-level', 'debug', '--listen', '127.0.0.1:0']));
    expect(herd.lines('.drover/logs/controller.log').some((line) => line.includes('"phase":"idle"'))).toBe(true);
    await herd.worker('-j', '1');
    await herd.untilSome('the check is made', async () => {
      const { reason } = (await herd.workerView('k1')) ?? {};
      return reason === 'it exited with 1';
    });
    herd.write('well');
    await herd.untilSome('it is good', async () => (await herd.workers()).some(({ state }) => state === 'healthy'));
  } finally {
    await herd.ok('server', 'stop');
  }
});
