/** Tokens as a user meets them: real servers, workers and commands. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { lastJson, mark, readQuietly, sleepers, until } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;
beforeEach(() => {
  herd = new Herd();
});
afterEach(() => herd.close());

/** As a user who has that token, and no access to the folder's own. */
async function as(token: string, ...args: string[]) {
  const running = herd.start(args, { DROVER_TOKEN: token });
  return running.ended;
}

const add = async (...args: string[]): Promise<string> => (await herd.ok('token', 'add', ...args)).trim();

describe('drover token', () => {
  it('gives out a token that is shown once, lists and revokes it; the commands use it by variable and by file', async () => {
    await herd.server();
    const token = await add('--role', 'submit', '--name', 'ci', '--expires', '30d');
    expect(token).toMatch(/^drover_[\w-]{43}$/);
    expect(await herd.ok('token', 'ls')).toMatch(/^t1 +submit +valid .* ci$/m);
    expect(lastJson(await herd.ok('token', 'ls', '--json'))).toMatchObject({ id: 't1', role: 'submit', name: 'ci' });
    expect(await as(token, 'submit', 'echo', ':::', 'a')).toMatchObject({ code: 0, stdout: 'w1\n' });
    herd.write('token', `${token}\n`);
    const byFile = herd.start(['ls', '--json'], { DROVER_TOKEN_FILE: herd.file('token') });
    expect(await byFile.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('"w1"') });
    const refused = await as(token, 'server', 'stop');
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/is for admin, not for submit/) });
    await herd.ok('token', 'revoke', 't1');
    expect(await as(token, 'ls')).toMatchObject({ code: 3, stderr: expect.stringContaining('was revoked') });
    expect((await herd.run('token', 'ls')).stderr).toContain('no token here');
    expect(await herd.ok('token', 'ls', '--all')).toMatch(/^t1 +submit +revoked/m);
    expect(await herd.run('token', 'revoke', 't9')).toMatchObject({ code: 2 });
    expect(await herd.run('token', 'add', '--role', 'root')).toMatchObject({ code: 2 });
    expect(await herd.run('token', 'add')).toMatchObject({ code: 2 });
  });

  it('works without a server, and what it made holds when one comes and goes', async () => {
    expect((await herd.run('run', 'echo {}', ':::', 'a')).code).toBe(0);
    const token = await add('--role', 'read');
    const server = await herd.server();
    expect((await as(token, 'ls')).code).toBe(0);
    expect(await as(token, 'logs', '-f', 'w1.1')).toMatchObject({ code: 0, stdout: 'a\n' });
    server.child.kill('SIGKILL');
    await server.ended;
    await herd.server();
    expect((await as(token, 'ls')).code).toBe(0);
    expect((await as('drover_wrong', 'ls')).stderr).toContain('the token is missing or wrong');
  });

  it('prints an access file for others, by which nothing is started where its controller is away', async () => {
    const server = await herd.server();
    mkdirSync(herd.file('given'));
    herd.write('given/access.json', await herd.ok('token', 'add', '--role', 'submit', '--access'));
    expect(await herd.run('submit', '--dir', 'given', 'true', ':::', 'a')).toMatchObject({ code: 0, stdout: 'w1\n' });
    expect(await herd.ok('ls', '--dir', 'given')).toContain('w1');
    server.child.kill('SIGKILL');
    await server.ended;
    expect(await herd.run('run', '--dir', 'given', 'true', ':::', 'a')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('no controller runs'),
    });
    expect(readdirSync(herd.file('given'))).toEqual(['access.json']);
  });

  it('an unreadable or empty token file is said at once', async () => {
    await herd.server();
    herd.write('empty');
    for (const name of ['empty', 'missing']) {
      for (const args of [['ls'], ['worker']]) {
        const ended = await herd.start(args, { DROVER_TOKEN_FILE: herd.file(name) }).ended;
        expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining(name) });
      }
    }
  });
});

describe('a worker with a token of its own', () => {
  const preset = ['--preset', 'interactive'];

  it('runs tasks by an access file that opens nothing else', async () => {
    await herd.server(...preset);
    herd.write('worker.json', await herd.ok('token', 'add', '--role', 'worker', '--access'));
    await herd.worker('--access', herd.file('worker.json'));
    expect(await herd.ok('run', 'echo', ':::', 'a', 'b')).toBe('a\nb\n');
    const { url, token } = JSON.parse(readFileSync(herd.file('worker.json'), 'utf8')) as { url: string; token: string };
    await expect(new Client({ url, token }).workflows()).rejects.toMatchObject({ code: 'role-not-allowed' });
  });

  it('is cut off when the token is revoked: its task dies in time, and is tried again elsewhere', async () => {
    await herd.server(...preset);
    const token = await add('--role', 'worker');
    const running = herd.start(['worker', '-j', '1'], { DROVER_TOKEN: token });
    const sleep = mark();
    await herd.untilSome('it is there', async () => (await herd.workers()).some(({ state }) => state === 'healthy'));
    const id = (await herd.ok('submit', `sleep ${sleep}`, '--array', '1')).trim();
    await until('it runs', () => sleepers(sleep).length === 1);
    await herd.ok('token', 'revoke', 't1');
    await until('the worker is told', () => /refuses the token of/.test(running.stderr()));
    await until('the task is dead', () => sleepers(sleep).length === 0, 30_000);
    await herd.untilSome('it counts as lost', async () => (await herd.history(`${id}.1`))[0]?.includes('lost'), 40_000);
  }, 90_000);

  it('is not let in with a role of another kind', async () => {
    await herd.server();
    const token = await add('--role', 'submit');
    const ended = await herd.start(['worker'], { DROVER_TOKEN: token }).ended;
    expect(ended).toMatchObject({ code: 3, stderr: expect.stringContaining('refuses the token') });
  });

  it('is cut off when the token expires', async () => {
    await herd.server(...preset);
    const token = await add('--role', 'worker', '--expires', '4s');
    const running = herd.start(['worker'], { DROVER_TOKEN: token });
    await until('it was there', () => running.stderr().includes('connected to the controller'));
    await until('it is out', () => /refuses the token of/.test(running.stderr()));
  });
});

const filesIn = (folder: string): string[] =>
  readdirSync(herd.file(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(herd.path.length + 1));

it('no secret is in a log, a message, the store or a list of processes, however it is used', async () => {
  const server = await herd.server('--log-level', 'debug');
  const worker = herd.start(['worker', '--log-level', 'debug']);
  const granted = await add('--role', 'submit', '--name', 'ci');
  const forWorkers = await add('--role', 'worker');
  const { tokens } = JSON.parse(readFileSync(herd.file('.drover/access.json'), 'utf8')) as {
    tokens: { admin: string; worker: string };
  };
  const wrong = 'drover_wrong-but-not-for-others-to-see';
  const secrets = [granted, forWorkers, tokens.admin, tokens.worker, wrong];
  const seen: string[] = [];
  const second = herd.start(['worker', '--log-level', 'debug'], { DROVER_TOKEN: forWorkers });
  await until('both are there', () => [worker, second].every((one) => one.stderr().includes('connected')));
  const sleep = mark();
  expect((await as(granted, 'submit', `sleep ${sleep}; echo {}`, ':::', 'a')).code).toBe(0);
  await until('it runs', () => sleepers(sleep).length === 1);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    seen.push(readQuietly(`/proc/${pid}/cmdline`));
  // What a task finds in its environment is not for it, either.
  for (const pid of sleepers(sleep)) seen.push(readQuietly(`/proc/${pid}/environ`));
  for (const pid of sleepers(sleep)) process.kill(pid);
  const { url } = lastJson(server.stdout()) as { url: string };
  for (const token of secrets) {
    for (const [method, path] of [
      ['GET', `/api/v1/workflows/${'x'.repeat(50)}`],
      ['GET', '/api/v1/tokens'],
      ['POST', '/api/v1/workflows'],
      ['GET', '/nothing'],
      ['GET', '/worker/v1/control'],
    ] as const) {
      const answer = await fetch(url + path, { method, headers: { authorization: `Bearer ${token}` } });
      seen.push(await answer.text());
    }
  }
  for (const args of [['ls'], ['server', 'stop'], ['show', 'w9']]) {
    const { stdout, stderr } = await as(wrong, ...args);
    seen.push(stdout, stderr);
  }
  await as(wrong, 'worker');
  await herd.ok('token', 'revoke', 't1', 't2');
  seen.push(await herd.ok('token', 'ls', '--all', '--json'), (await as(granted, 'ls')).stderr);
  seen.push(server.stdout(), server.stderr(), worker.stderr(), second.stderr());
  const kept = filesIn('.drover').filter((name) => !/(access|tokens)\.json$/.test(name));
  for (const name of kept) seen.push(readQuietly(herd.file(name)));
  expect(kept.filter((name) => name.endsWith('.log')).length).toBeGreaterThan(2);
  expect(seen.some((text) => text.includes('"phase":"committing"'))).toBe(true);
  for (const secret of secrets) expect(seen.filter((text) => text.includes(secret))).toEqual([]);
});
