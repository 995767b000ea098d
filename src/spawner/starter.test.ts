import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { outputTailBytesMax } from '../model/limits.ts';
import { loadLibc } from '../platform/node/libc.ts';
import { Driver, until } from './driver.testing.ts';

const textOf = (tail: string): string => Buffer.from(tail, 'base64').toString();

describe('a start', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = new Driver();
  });
  afterAll(() => driver.close());

  describe('sets the environment', () => {
    it('from the base, replaced and extended by the variables of the task', async () => {
      driver.send({ t: 'env', id: 2, env: ['PATH=/usr/bin:/bin', 'KEPT=base', 'CHANGED=base', 'CHANGED=last'] });
      const vars = ['CHANGED=task', 'ADDED=one', 'ADDED=two', 'EMPTY=', 'UMLAUT=äöü€😀'];
      const { stdout } = await driver.run('env', { env: 2, vars });
      const entries = stdout.trimEnd().split('\n');
      expect(entries).toEqual(
        expect.arrayContaining(['KEPT=base', 'CHANGED=task', 'ADDED=two', 'EMPTY=', 'UMLAUT=äöü€😀']),
      );
      expect(entries.filter((entry) => /^(CHANGED|ADDED)=/.test(entry))).toHaveLength(2);
      expect((await driver.run('env', { env: 2 })).stdout).toContain('CHANGED=last\n');
    });

    it('as each task wants it, whatever the one before wanted', async () => {
      driver.send({ t: 'env', id: 6, env: ['PATH=/usr/bin:/bin', 'A=base', 'B=base'] });
      const seen: string[] = [];
      for (const vars of [['A=1'], ['A=2'], ['B=ä3', 'C=4'], [], ['C=5', 'B=6'], ['A=€', 'A=7']]) {
        const { stdout } = await driver.run('echo $A $B $C', { env: 6, vars });
        seen.push(stdout.trimEnd());
      }
      expect(seen).toEqual(['1 base', '2 base', 'base ä3 4', 'base base', 'base 6 5', '7 base']);
    });

    it('with PWD as the working directory, also when that is a symbolic path of the base', async () => {
      mkdirSync(driver.path('deeper'));
      driver.send({ t: 'env', id: 3, env: ['PATH=/usr/bin:/bin', 'PWD=/somewhere/else'] });
      const cwd = driver.path('deeper');
      expect((await driver.run('echo "$PWD"; pwd -P; env | grep ^PWD=', { env: 3, cwd })).stdout).toBe(
        `${cwd}\n${cwd}\nPWD=${cwd}\n`,
      );
    });

    it('without what the spawner itself was started with', async () => {
      driver.send({ t: 'env', id: 4, env: ['PATH=/usr/bin:/bin'] });
      expect(process.env.HOME).toBeDefined();
      expect((await driver.run('env', { env: 4 })).stdout).not.toContain('HOME=');
    });

    it('also for a task that outlives the dropping of its base', async () => {
      driver.send({ t: 'env', id: 5, env: ['PATH=/usr/bin:/bin', 'BASE=five'] });
      const key = driver.start('sleep 0.1; echo $BASE', { env: 5 });
      driver.send({ t: 'dropEnv', id: 5 });
      await driver.ended(key);
      expect(driver.stdout(key)).toBe('five\n');
    });
  });

  describe('connects files', () => {
    it('reads stdin from a file', async () => {
      writeFileSync(driver.path('input'), 'some input\n');
      expect((await driver.run('cat', { stdin: driver.path('input') })).stdout).toBe('some input\n');
    });

    it('starts tasks with the same files in different directories', async () => {
      const stdout = { path: driver.path('shared-slot'), mode: 'reuse' } as const;
      const input = driver.path('directory-input');
      writeFileSync(input, 'input\n');
      const outputs: string[] = [];
      for (const place of [{ cwd: '/' }, { cwd: '/usr' }, { cwd: '/usr', stdin: input }, { cwd: '/' }]) {
        const { out } = await driver.run('pwd; cat', { ...place, stdout, stderr: stdout });
        outputs.push(textOf(out.tail));
      }
      expect(outputs).toEqual(['/\n', '/usr\n', '/usr\ninput\n', '/\n']);
    });

    it('empties a file that is used again, and tells of each task what it wrote', async () => {
      const stdout = { path: driver.path('slot'), mode: 'reuse' } as const;
      const first = await driver.run('echo first', { stdout });
      const second = await driver.run('printf "the second"', { stdout });
      const third = await driver.run('true', { stdout });
      expect([first.out, second.out, third.out].map(({ bytes, tail }) => [bytes, textOf(tail)])).toEqual([
        [6, 'first\n'],
        [10, 'the second'],
        [0, ''],
      ]);
    });

    it('reads the output of a task that renamed, removed or truncated its file', async () => {
      const stdout = { path: driver.path('gone'), mode: 'reuse' } as const;
      expect(textOf((await driver.run('echo old; rm gone', { stdout })).out.tail)).toBe('old\n');
      expect(textOf((await driver.run('echo new', { stdout })).out.tail)).toBe('new\n');
      const cut = { path: driver.path('cut'), mode: 'reuse' } as const;
      expect(textOf((await driver.run('echo much; echo less > cut', { stdout: cut })).out.tail)).toBe('less\n');
    });

    it('tells the end of a long output', async () => {
      const { out } = await driver.run('head -c 100000 /dev/zero; echo end');
      expect([out.bytes, Buffer.byteLength(out.tail, 'base64')]).toEqual([100_004, outputTailBytesMax]);
      expect(textOf(out.tail).slice(-5)).toBe('\0end\n');
    });

    it('truncates a file that is not a slot’s', async () => {
      writeFileSync(driver.path('old'), 'much older output\n');
      const ended = await driver.run('echo new', { stdout: { path: driver.path('old'), mode: 'truncate' } });
      expect(ended.out.bytes).toBe(4);
      expect(driver.text('old')).toBe('new\n');
    });

    it('gives stdout and stderr with one path one open file, so that neither overwrites the other', async () => {
      const both = { path: driver.path('both'), mode: 'truncate' } as const;
      const ended = await driver.run('echo a; echo b >&2; echo c', { stdout: both, stderr: both });
      expect(driver.text('both')).toBe('a\nb\nc\n');
      expect([ended.out.bytes, ended.err.bytes]).toEqual([6, 6]);
    });
  });

  describe('keeps a scratch directory', () => {
    it('that every task finds empty, whatever the one before left there, or did to it', async () => {
      const scratch = driver.path('own');
      const left = ['touch own/a', 'mkdir -p own/b/c', 'touch own/.d', 'chmod 500 own', 'rmdir own', 'true'];
      for (const command of [...left, 'sleep 2.2', ...left]) {
        const { stdout } = await driver.run(`ls -A own; stat -c %a own; ${command}`, { scratch });
        expect([command, stdout]).toEqual([command, '755\n']);
      }
    });

    it('of which what was in it is removed', async () => {
      const scratch = driver.path('parent/scratch');
      const { stdout } = await driver.run('cd parent/scratch && mkdir -p a/b && touch a/b/c && pwd', { scratch });
      expect(stdout).toBe(`${scratch}\n`);
      expect(existsSync(scratch)).toBe(false);
      const names = async () => (await driver.run('ls parent')).stdout;
      let left = await names();
      await until(() => {
        void names().then((list) => {
          left = list;
        });
        return left === '';
      }, 'the contents to be removed');
    });

    it('that is removed in the end, though nobody used it', async () => {
      const own = new Driver();
      const scratch = own.path('unused');
      await own.failed(own.start('true', { scratch, cwd: '/no/such/directory' }));
      await own.run('true', { scratch });
      own.send({ t: 'stop', graceMs: 0 });
      await own.exited();
      expect(existsSync(scratch)).toBe(false);
      await own.close();
    });
  });

  it('lets no descriptor of the spawner into a task, not even the lock that it inherited', async () => {
    const lockFd = openSync(driver.path('lock'), 'w');
    const holder = new Driver({ lockFd });
    expect(loadLibc()?.tryLock(lockFd)).toBe(true);
    closeSync(lockFd);
    await holder.run('true', { stdout: { path: driver.path('kept'), mode: 'reuse' } });
    expect(
      (await holder.run('ls -l /proc/self/fd | grep -o " [0-9]* -> .*" | grep -v /proc/')).stdout
        .split('\n')
        .map((line) => line.trim().split(' ')[0]),
    ).toEqual(['0', '1', '2', '']);
    expect((await holder.run('flock -n lock true', { cwd: driver.directory })).exit).toBe(1);
    const survivor = holder.start('sleep 1000');
    const { pid } = await holder.started(survivor);
    holder.process.kill('SIGKILL');
    await holder.exited();
    expect((await driver.run('flock -n lock true')).exit).toBe(0);
    process.kill(pid, 'SIGKILL');
    await holder.close();
  });

  it.each(['/bin/bash', '/bin/sh'])('takes no line for options of %s', async (shell) => {
    for (const command of ['-x echo', '--version', '+x', '-']) {
      const { exit, stdout, stderr } = await driver.run(command, { shell });
      expect([exit, stdout]).toEqual([127, '']);
      expect(stderr).toContain('not found');
    }
    expect((await driver.run('-\necho "$0,$#,$LINENO"; exit 4', { shell })).exit).toBe(4);
  });

  describe('runs a long command', () => {
    it.each([100_000, 131_071, 131_072, 200_000, 1_000_000])('of %i bytes', async (bytes) => {
      const tail = '; read -r line; echo "$0,$#,$*,$line,$LINENO,$-"; exit 42';
      const text = 'echo start #';
      const command = (filler: number) => `${text}${'x'.repeat(filler)}\necho ä😀${tail}`;
      const filler = bytes - Buffer.byteLength(command(0));
      writeFileSync(driver.path('line'), 'from stdin\n');
      for (const shell of ['/bin/bash', '/bin/sh']) {
        const options = { shell, stdin: driver.path('line') };
        const long = await driver.run(command(filler), options);
        const short = await driver.run(command(0), options);
        expect(long.stdout).toContain(`start\nä😀\n${shell.slice(5)},0,,from stdin,`);
        expect([long.exit, long.stdout, long.stderr]).toEqual([42, short.stdout, '']);
      }
    });

    it('of many bytes per character, cut only between characters', async () => {
      const ended = await driver.run(
        `printf %s "${'a😀'.repeat(60_000)}" | md5sum; printf %s "${'a😀'.repeat(10)}" | wc -m`,
        {
          vars: ['LC_ALL=C.UTF-8'],
        },
      );
      const same = await driver.run(`for ((i = 0; i < 60000; i++)); do printf a😀; done | md5sum; echo 20`);
      expect(ended.stdout).toBe(same.stdout);
    });

    it('up to the limit of the system, beyond which it says so', async () => {
      const failed = await driver.failed(driver.start(`true ${'#'.repeat(7_000_000)}`));
      expect(failed).toMatchObject({ code: 'too-long', permanent: true });
    });
  });

  describe('that fails says why, and whether to try again', () => {
    it.each([
      ['a missing directory', { cwd: '/no/such/directory' }, 'cwd-missing', '/no/such/directory'],
      ['a directory that is none', { cwd: '/etc/passwd' }, 'cwd-missing', '/etc/passwd'],
      ['a directory with an impossible name', { cwd: `/${'x'.repeat(300)}` }, 'cwd-missing', 'xxx'],
      ['a missing shell', { shell: '/no/such/shell' }, 'shell-missing', '/no/such/shell'],
      ['a shell that is no program', { shell: '/etc/passwd' }, 'shell-missing', '/etc/passwd'],
      ['a missing stdin', { stdin: '/no/such/input' }, 'stdin-missing', '/no/such/input'],
      [
        'an output in a missing directory',
        { stdout: { path: '/no/such/out', mode: 'reuse' } },
        'output-unwritable',
        '/no/such/out',
      ],
      ['an output that is a directory', { stderr: { path: '/tmp', mode: 'truncate' } }, 'output-unwritable', '/tmp'],
      ['a NUL in a variable', { vars: ['A=\0'] }, 'other', 'NUL'],
    ] as const)('%s', async (_, overrides, code, named) => {
      for (const command of ['/bin/true', 'true; true']) {
        const failed = await driver.failed(driver.start(command, overrides));
        expect(failed).toMatchObject({ code, permanent: true });
        expect(failed.message).toContain(named);
      }
    });

    it('a named pipe, which nobody may ever open at its other end', async () => {
      await driver.run('mkfifo pipe');
      expect(await driver.failed(driver.start('cat', { stdin: driver.path('pipe') }))).toMatchObject({
        code: 'stdin-missing',
      });
    });

    it('no resources, which may come back', async () => {
      const poor = new Driver({ wrapper: ['prlimit', '--nofile=60:60'] });
      const keys = Array.from({ length: 30 }, () => poor.start('sleep 1000 & wait'));
      const last = keys.at(-1) ?? 0;
      expect(await poor.failed(last)).toMatchObject({ code: 'no-resources', permanent: false });
      for (const key of keys) poor.kill(key, 'kill');
      await poor.ended(keys[0] ?? 0);
      await until(
        () =>
          poor.messages.filter((m) => m.t === 'started').length === poor.messages.filter((m) => m.t === 'ended').length,
        'all to end',
      );
      expect(await poor.run('exit 4')).toMatchObject({ exit: 4 });
      await poor.close();
    });
  });
});
