/** Output of real tasks, read while it is on its way: none of it is missing, or it is said that it is. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;

beforeEach(() => {
  herd = new Herd();
});

afterEach(() => herd.close());

const megabytes = 40;
const much = `head -c ${megabytes}000000 /dev/zero | tr '\\0' x`;
const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const expected = digestOf('x'.repeat(megabytes * 1_000_000));

async function submit(...words: string[]): Promise<string> {
  return (await herd.ok('submit', ...words)).trim();
}

it('a task that has just ended has all of its output, however much is still with its worker', async () => {
  await herd.server();
  await herd.worker('-j', '1');
  const id = await submit(much, '--array', '1');
  await herd.ok('wait', '-q', id);
  expect(digestOf(await herd.ok('logs', `${id}.1`))).toBe(expected);
});

it('a follower gets every byte though the server is killed and started again while they are fetched', async () => {
  const server = await herd.server();
  await herd.worker('-j', '1');
  const id = await submit(`${much}; echo`, '--array', '1');
  const following = herd.start(['logs', '-f', `${id}.1`]);
  await until('some of it was read', () => following.stdout().length > 1_000_000);
  server.child.kill('SIGKILL');
  await server.ended;
  await herd.server();
  const { code, stdout, stderr } = await following.ended;
  expect([code, stderr, digestOf(stdout.trimEnd())]).toEqual([0, expect.not.stringContaining('missing'), expected]);
});

it('of a task whose worker is away it is said that its output can not be read now', async () => {
  await herd.server();
  const worker = await herd.worker('-j', '1');
  const id = await submit('echo here; sleep 60', '--array', '1');
  await herd.untilTask(`${id}.1`, 'running');
  await herd.untilSome('its output', async () => (await herd.ok('logs', `${id}.1`)) === 'here\n');
  herd.killAtOnce(worker);
  await worker.ended;
  const { code, stderr } = await herd.run('logs', `${id}.1`);
  expect([code, stderr]).toEqual([
    1,
    `drover: the worker of ${id}.1 is away: what it has not handed over can't be read now\n`,
  ]);
});

it('whoever has seen enough of many tasks is let go, though most of them write nothing', async () => {
  await herd.server();
  await herd.worker('-j', '3');
  const id = await submit('[ {} = 1 ] && while echo line; do sleep 0.05; done; sleep 60', ':::', '1', '2', '3');
  const launcher = herd.script(['sh', '-c', `"$DROVER" logs -f ${id} | head -n 1`], { DROVER: herd.launcher });
  expect((await launcher.ended).stdout).toBe(`${id}.1 | line\n`);
});
