import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadLibc } from '../platform/node/libc.ts';
import { DirectCalls } from './direct.ts';
import { Driver } from './driver.testing.ts';
import { BaseEnvironment } from './environment.ts';

/** Each is run by the spawner, which starts the plain ones directly, and by a real shell. */
const COMMANDS = [
  'true',
  'false',
  '/bin/true',
  '/bin/false',
  'echo',
  'echo hello',
  'echo  a   b',
  'echo -n x',
  'echo -e a',
  'echo a -n',
  'echo --help',
  'true --version',
  'sleep 0',
  'ls plain',
  'ls -d .',
  'ls missing-file',
  'ls -d / /usr',
  'cat plain',
  'cat missing-file',
  'cat plain plain',
  'wc -c plain',
  'head -c 3 plain',
  'seq 3',
  'seq 1 2 9',
  'expr 1 + 2',
  'expr 1 = 2',
  'basename /a/b.c .c',
  'dirname /a/b',
  'sort -r plain',
  'grep -c line plain',
  'grep nothing-here plain',
  'stat -c %s plain',
  'date -u -d @0 +%s',
  'uname',
  'id -u',
  'printenv HOME',
  'env',
  'nosuchprogram',
  'nosuchprogram with words',
  './nosuchfile',
  '/no/such/dir/program',
  './plain',
  './script a b',
  './noshebang a b',
  './missing-interpreter',
  'a-directory',
  './a-directory',
  '/',
  'script-in-path one two',
  'hidden-by-permission',
  'sh -c exit',
  'bash -c exit',
  'sh ./script x',
  './dies-of-signal',
  './exits-77',
  './link-to-script q',
  'pwd',
  'cd /',
  'exit 7',
  'test -f plain',
  'kill -0 1',
  'printf abc',
  'A=1',
  'A=1 ./script',
  './show-environment',
  ':',
  '.',
  'command true',
  'type ls',
  './reads-stdin',
  'dd if=plain bs=1 count=4 status=none',
  'tr a-z A-Z',
  'nice true',
  'timeout 5 true',
  'timeout 0.01 sleep 5',
  'xargs echo',
  'test-with:colon,comma@at',
  'x'.repeat(300),
  './loop-of-links',
];

const ENVIRONMENTS: Record<string, string[]> = {
  'a small environment': ['HOME=/root'],
  'a shell level': ['HOME=/root', 'SHLVL=3', 'OLDPWD=/usr', '_=/usr/bin/old'],
  'an odd shell level': ['SHLVL=-2', 'OLDPWD=/no/such'],
  'a start-up file': ['BASH_ENV=./startup'],
  'an exported function': ['BASH_FUNC_ls%%=() { echo function; }'],
  'names that no shell has': ['a.b=1', 'c-d=2'],
  'exported shell options': ['SHELLOPTS=xtrace', 'IFS=x', 'OPTIND=4'],
  'prompts and what getopts uses': ['PS1=> ', 'PS2=> ', 'PS4=> ', 'OPTERR=0'],
  'prompts alone': ['PS1=> ', 'PS2=> '],
  'a relative previous directory': ['OLDPWD=src'],
  'a locale that is not installed': ['LC_ALL=xx_XX.UTF-8'],
  'a shell started by sshd': ['HOME=.', 'SSH_CLIENT=1.2.3.4 5 22'],
};

describe.each(['/bin/bash', '/bin/sh'])('a line for %s', (shell) => {
  let driver: Driver;
  beforeAll(() => {
    driver = new Driver();
    prepareFiles(driver);
  });
  afterAll(() => driver.close());

  const pathVariable = () => `PATH=${driver.path('bin')}:/usr/local/bin:/usr/bin:/bin`;

  function throughShell(command: string, env: string[]) {
    const pairs = [...env, pathVariable(), `PWD=${driver.directory}`].map((entry): [string, string] => {
      const at = entry.indexOf('=');
      return [entry.slice(0, at), entry.slice(at + 1)];
    });
    const result = spawnSync(shell, ['-c', command], {
      argv0: shell.slice('/bin/'.length),
      cwd: driver.directory,
      env: Object.fromEntries(pairs),
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    });
    return {
      exit: result.status ?? undefined,
      signal: result.signal ?? undefined,
      stdout: result.stdout,
      stderr: result.stderr,
    };
  }

  async function throughSpawner(command: string, env: number) {
    const { exit, signal, stdout, stderr } = await driver.run(command, { env, shell });
    const own = /^DROVER_SPAWN_KEY=.*\n/m;
    return {
      exit,
      signal: signal === undefined ? undefined : signalName(signal),
      stdout: stdout.replace(own, ''),
      stderr,
    };
  }

  it.each(Object.entries(ENVIRONMENTS))('gives the same as through the shell, with %s', async (_, env) => {
    const id = 100 + Object.values(ENVIRONMENTS).indexOf(env);
    driver.send({ t: 'env', id, env: [...env, pathVariable()] });
    const commands =
      env[0] === 'HOME=/root' && env.length === 1
        ? COMMANDS
        : ['ls plain', './show-environment', 'nosuch', 'env', 'echo a'];
    for (const command of commands) {
      const direct = await throughSpawner(command, id);
      const shelled = throughShell(command, env);
      expect({ command, ...sorted(command, direct) }).toEqual({ command, ...sorted(command, shelled) });
    }
  });

  it('finds a program that an earlier task installed earlier in the PATH', async () => {
    driver.send({ t: 'env', id: 1, env: [pathVariable()] });
    expect((await driver.run('uname', { shell })).stdout).toBe('Linux\n');
    writeExecutable(driver.path('bin/uname'), '#!/bin/sh\necho mine\n');
    expect((await driver.run('uname', { shell })).stdout).toBe('mine\n');
  });

  it.each(['echo', 'true', 'false'])('runs the built-in %s, not a program of this name in the PATH', async (name) => {
    writeExecutable(driver.path(`bin/${name}`), '#!/bin/sh\necho mine\nexit 9\n');
    driver.send({ t: 'env', id: 1, env: [pathVariable()] });
    const { exit, stdout } = await driver.run(name, { shell });
    expect([exit, stdout]).toEqual([name === 'false' ? 1 : 0, name === 'echo' ? '\n' : '']);
  });

  it('looks a program up in the PATH of the task', async () => {
    mkdirSync(driver.path('other'));
    writeExecutable(driver.path('other/elsewhere'), '#!/bin/sh\necho found\n');
    expect((await driver.run('elsewhere', { shell, vars: [`PATH=${driver.path('other')}:/bin`] })).stdout).toBe(
      'found\n',
    );
    expect((await driver.run('elsewhere', { shell })).exit).toBe(127);
    expect((await driver.run('elsewhere', { shell, vars: ['PATH=other:/bin'] })).stdout).toBe('found\n');
  });
});

it('starts plain commands without bash in the environment of a terminal, with prompts and a locale', () => {
  const entries = ['PATH=/usr/bin:/bin', 'HOME=/', 'SHLVL=2', 'OLDPWD=/usr', 'PS1=> ', 'LC_ALL=C', 'TERM=xterm', '_=x'];
  const base = new BaseEnvironment(entries, loadLibc());
  const output = { path: '/dev/null', mode: 'truncate' } as const;
  const task = { t: 'start', key: 1, env: 1, vars: ['DROVER_INDEX=1'], shell: '/bin/bash', cwd: '/' } as const;
  for (const command of ['/bin/true', 'true', 'sleep 0.01', 'echo hi', 'ls -l /']) {
    const call = new DirectCalls(loadLibc()).find({ ...task, command, stdout: output, stderr: output }, base);
    expect(call?.argv).toEqual(command.split(' '));
    expect(call?.env.entries).toEqual(entries.filter((entry) => entry !== 'PS1=> '));
  }
});

/** The order of an environment has no meaning, and a shell rearranges it. */
function sorted<Result extends { stdout: string }>(command: string, result: Result): Result {
  if (!command.includes('env')) return result;
  return { ...result, stdout: result.stdout.split('\n').sort().join('\n') };
}

function signalName(signal: number): string {
  const names: Record<number, string> = { 6: 'SIGABRT', 9: 'SIGKILL', 15: 'SIGTERM' };
  return names[signal] ?? String(signal);
}

function writeExecutable(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

function prepareFiles(driver: Driver): void {
  mkdirSync(driver.path('bin'));
  mkdirSync(driver.path('a-directory'));
  mkdirSync(driver.path('bin/a-directory'));
  writeFileSync(driver.path('plain'), 'line one\nline two\n');
  writeFileSync(driver.path('startup'), 'echo from the start-up file\n');
  writeFileSync(driver.path('.bashrc'), 'echo from .bashrc\n');
  writeFileSync(driver.path('bin/hidden-by-permission'), '#!/bin/sh\necho hidden\n');
  writeExecutable(driver.path('script'), '#!/bin/sh\necho "$0" "$@"\n');
  writeExecutable(driver.path('bin/script-in-path'), '#!/bin/sh\necho "$0" "$@"\n');
  writeExecutable(driver.path('noshebang'), 'echo "no shebang" "$@"\n');
  writeExecutable(driver.path('missing-interpreter'), '#!/no/such/interpreter\n');
  writeExecutable(driver.path('dies-of-signal'), '#!/bin/sh\nkill -9 $$\n');
  writeExecutable(driver.path('exits-77'), '#!/bin/sh\nexit 77\n');
  writeExecutable(driver.path('show-environment'), '#!/bin/dash\nenv\n');
  writeExecutable(driver.path('reads-stdin'), '#!/bin/sh\ncat; echo "read: $?"\n');
  symlinkSync('script', driver.path('link-to-script'));
  symlinkSync('loop-of-links', driver.path('loop-of-links'));
}
