import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastJson, mark, type Place, place, sleepers, until } from './drover.ts';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

const file = (name: string): string => join(here.path, name);
const read = (name: string): string => readFileSync(file(name), 'utf8');

interface Detail {
  readonly state: string;
  readonly reason?: string;
  readonly history: { number: number; outcome?: object; cpuMs?: number; wallMs?: number; peakBytes?: number }[];
}
const show = async (task: string): Promise<Detail> => (await here.json(['show', task, '--json'])) as unknown as Detail;

describe('a task', () => {
  it('runs in the directory and with the environment of its submitter, and knows who it is', async () => {
    const line =
      'echo "$PWD|$MINE|$GIVEN|$DROVER_WORKFLOW_ID|$DROVER_TASK_ID|$DROVER_INDEX|$DROVER_ATTEMPT|$DROVER_CPUS"';
    const { stdout } = await here.run(['run', '--env', 'GIVEN=g v', line, '--array', '7'], {
      env: { MINE: 'my value' },
    });
    expect(stdout).toBe(`${here.path}|my value|g v|w1|w1.1|7|1|1\n`);
  });

  it('has a scratch directory, which is removed after it', async () => {
    const { stdout } = await here.run(['run', 'touch "$DROVER_TASK_DIR/x" && echo "$DROVER_TASK_DIR" {}', ':::', '1']);
    const [directory] = stdout.trim().split(' ');
    expect(directory).toContain(here.path);
    expect(existsSync(directory ?? '')).toBe(false);
  });

  it('runs elsewhere with --cwd and reads a file with --stdin; otherwise its standard input is empty', async () => {
    mkdirSync(file('sub'));
    writeFileSync(file('in'), 'from a file\n');
    const other = await here.run(['run', '--cwd', 'sub', '--stdin', 'in', 'pwd; cat; : {}', ':::', '1']);
    expect(other.stdout).toBe(`${here.path}/sub\nfrom a file\n`);
    const empty = await here.run(['run', 'cat; echo end {}', ':::', '1']);
    expect(empty.stdout).toBe('end 1\n');
  });

  it('ends with the exact exit code or signal, and its times are known', async () => {
    await here.run(['run', '--json', '-'], { input: 'exit 42\nkill -SEGV $$\nno-such-command-here\nsleep 0.3\n' });
    expect((await show('w1.1')).history).toMatchObject([{ outcome: { kind: 'exited', code: 42 } }]);
    expect((await show('w1.2')).history).toMatchObject([{ outcome: { kind: 'signalled', signal: 11 } }]);
    expect((await show('w1.3')).history).toMatchObject([{ outcome: { kind: 'exited', code: 127 } }]);
    const [slept] = (await show('w1.4')).history;
    expect(slept).toMatchObject({
      outcome: { kind: 'succeeded' },
      cpuMs: expect.any(Number),
      peakBytes: expect.any(Number),
    });
    expect(slept?.wallMs).toBeGreaterThanOrEqual(300);
  });

  it('that takes longer than --timeout is killed and says so', async () => {
    const long = mark();
    const { code, stdout } = await here.run([
      'run',
      '--json',
      '--timeout',
      '300ms',
      `sleep ${long}; true {}`,
      ':::',
      '1',
    ]);
    expect(code).toBe(1);
    expect(lastJson(stdout)).toMatchObject({ failed: 1, failures: [{ cause: 'timeout', count: 1 }] });
    expect(sleepers(long)).toEqual([]);
  });

  it('is tried again as often as --retries says, with each attempt in its history', async () => {
    const flaky = 'echo x >> tries; [ $(wc -l < tries) -ge 3 ] || exit 5; true {}';
    const { code } = await here.run(['run', '--retries', '2', flaky, ':::', '1']);
    expect(code).toBe(0);
    const { history } = await show('w1.1');
    expect(history.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, { kind: 'exited', code: 5 }],
      [2, { kind: 'exited', code: 5 }],
      [3, { kind: 'succeeded' }],
    ]);
  });

  it('that can not be started fails with what to mend', async () => {
    mkdirSync(file('gone'));
    const run = here.start([
      'run',
      '--json',
      '--cwd',
      'gone',
      '-j1',
      'rmdir "$PWD" 2>/dev/null; true {}',
      ':::',
      '1',
      '2',
    ]);
    const { code, stdout } = await run.ended;
    expect(code).toBe(1);
    expect(lastJson(stdout)).toMatchObject({ done: 1, failed: 1 });
    expect(await show('w1.2')).toMatchObject({ state: 'failed', reason: 'not-startable' });
  });
});

describe('a run', () => {
  it('under --fail-fast stops at the first failure: what runs is killed, what waits never starts', async () => {
    const long = mark();
    const input = `sleep ${long}\nexit 1\ntouch never\n`;
    const { code, stdout } = await here.run(['run', '--fail-fast', '-j2', '--json', '-'], { input });
    expect(code).toBe(1);
    expect(lastJson(stdout)).toMatchObject({ state: 'failed', failed: 1, cancelled: 2 });
    expect(existsSync(file('never'))).toBe(false);
    expect(sleepers(long)).toEqual([]);
  });

  it('C7, C9: does not start what is behind a barrier before all in front of it has ended', async () => {
    const before = Array.from({ length: 8 }, (_, i) => `sleep 0.0${i}; echo a >> order`);
    const after = ['echo b >> order', 'echo b >> order'];
    const input = [...before, '#DROVER BARRIER', ...after, '#DROVER BARRIER', 'echo c >> order'].join('\n');
    expect((await here.run(['run', '-j4', '-'], { input })).code).toBe(0);
    expect(read('order').replaceAll('\n', '')).toBe('aaaaaaaabbc');
  });

  it('takes commands of nearly a megabyte, many at a time', async () => {
    const long = 'x'.repeat(900_000);
    const input = Array.from({ length: 24 }, (_, i) => `: ${long}; echo ${i}`).join('\n');
    const { stdout } = await here.run(['run', '-j24', '--json', '-'], { input });
    expect(lastJson(stdout)).toMatchObject({ state: 'done', done: 24, attempts: 24 });
  });

  it('within a task is a run of its own, and does not wait for the slot that the task holds', async () => {
    const nested = `${join(import.meta.dirname, '..', '..', 'drover')} run --quiet 'echo inner {}' ::: 1; echo outer {}`;
    const { code, stdout } = await here.run(['run', '-j1', nested, ':::', '2']);
    expect(code).toBe(0);
    expect(stdout).toContain('outer 2');
  });

  it('is not held up by a registration whose definer died', async () => {
    const dying = here.start(['run', '-j1', '-'], 'unfinished');
    dying.child.kill('SIGKILL');
    await dying.ended;
    const { code } = await here.run(['run', '--json', 'echo {}', ':::', '1']);
    expect(code).toBe(0);
  });

  it('writes plain files of output with --output', async () => {
    await here.run(['run', '--output', 'out', 'echo o{}; echo e{} >&2', ':::', '1', '2']);
    expect(readdirSync(file('out')).sort()).toEqual(['w1.1.err', 'w1.1.out', 'w1.2.err', 'w1.2.out']);
    expect(read('out/w1.2.out')).toBe('o2\n');
    expect((await here.run(['logs', 'w1.2', '--stderr'])).stdout).toBe('e2\n');
  });

  it('started while another one goes on in the same folder joins it; both end right, whichever is first', async () => {
    const first = here.start(['run', '--json', '-j2', 'until [ -e go ]; do sleep 0.02; done; echo {}', ':::', 'a']);
    await until('the first is running', () => first.stdout().includes('"running":1'));
    const second = await here.run(['run', '--json', 'echo {}', ':::', 'b', 'c']);
    expect(lastJson(second.stdout)).toMatchObject({ id: 'w2', state: 'done', done: 2 });
    const third = here.start(['run', '--json', 'until [ -e later ]; do sleep 0.02; done; echo {}', ':::', 'd']);
    await until('the third is running', () => third.stdout().includes('"running":1'));
    writeFileSync(file('go'), '');
    await until('the host waits for the other', () => first.stderr().includes('w3'));
    writeFileSync(file('later'), '');
    expect((await first.ended).code).toBe(0);
    expect(lastJson((await third.ended).stdout)).toMatchObject({ id: 'w3', state: 'done', done: 1 });
  });
});

describe('output', () => {
  it('is kept byte for byte, however much it is', async () => {
    const blob = 'head -c 3000000 /dev/urandom | tee original';
    await here.run(['run', '--quiet', `${blob}; echo 'problem' >&2; true {}`, ':::', '1']);
    execFileSync('sh', ['-c', `"$0" logs w1.1 > copy`, join(import.meta.dirname, '..', '..', 'drover')], {
      cwd: here.path,
    });
    expect(readFileSync(file('copy')).equals(readFileSync(file('original')))).toBe(true);
    expect((await here.run(['logs', 'w1.1', '--stderr'])).stdout).toBe('problem\n');
  });

  it('of a task that reopens its own streams is what it wrote last, and harms nobody else', async () => {
    const input = [
      'echo first',
      'echo a; echo b > /dev/stdout',
      'echo oops > /dev/stderr; echo more >&2',
      'echo last',
    ].join('\n');
    const { stdout } = await here.run(['run', '-j1', '--json', '-'], { input });
    expect(lastJson(stdout)).toMatchObject({ state: 'done', done: 4, attempts: 4 });
    expect((await here.run(['logs', 'w1.1'])).stdout).toBe('first\n');
    expect((await here.run(['logs', 'w1.2'])).stdout).toBe('b\n');
    expect((await here.run(['logs', 'w1.3', '--stderr'])).stdout).toBe('oops\nmore\n');
    expect((await here.run(['logs', 'w1.4'])).stdout).toBe('last\n');
  });

  it('of earlier attempts is kept, too', async () => {
    const flaky = 'echo try $DROVER_ATTEMPT; true {} && [ $DROVER_ATTEMPT = 2 ]';
    await here.run(['run', '--retries', '1', flaky, ':::', '1']);
    expect((await here.run(['logs', 'w1.1'])).stdout).toBe('try 2\n');
    expect((await here.run(['logs', 'w1.1', '--attempt', '1'])).stdout).toBe('try 1\n');
  });

  it('of a running task is followed as it comes, from the middle of a segment, too', async () => {
    const lines = 'for i in 1 2 3; do echo line $i; until [ -e go$i ]; do sleep 0.02; done; done';
    const run = here.start(['run', '-j1', '--json', '-'], `echo noise\n${lines}\n`);
    await until('the task runs', () => run.stdout().includes('"running":1,"done":1'));
    const follow = here.start(['logs', '-f', 'w1.2']);
    await until('the first line', () => follow.stdout() === 'line 1\n');
    writeFileSync(file('go1'), '');
    await until('the second line', () => follow.stdout().endsWith('line 2\n'));
    writeFileSync(file('go2'), '');
    writeFileSync(file('go3'), '');
    expect((await follow.ended).stdout).toBe('line 1\nline 2\nline 3\n');
    expect((await run.ended).code).toBe(0);
  });
});

describe('from another terminal', () => {
  it('ls and show see a live run, and cancel ends one task, or all of it', async () => {
    const long = mark();
    const run = here.start(['run', '--json', '-j3', `sleep ${long}; true {}`, ':::', '1', '2', '3']);
    await until('all run', () => sleepers(long).length === 3);
    expect((await here.run(['ls'])).stdout).toMatch(/w1\s+running/);
    expect((await here.run(['cancel', 'w1.2'])).code).toBe(0);
    await until('one is gone', () => sleepers(long).length === 2);
    expect((await show('w1.2')).state).toMatch(/cancell/);
    expect((await here.run(['cancel', 'w1'])).code).toBe(0);
    await until('all are gone', () => sleepers(long).length === 0);
    const { code, stdout } = await run.ended;
    expect(lastJson(stdout)).toMatchObject({ state: 'cancelled', cancelled: 3 });
    expect(code).toBe(1);
    const again = await here.run(['cancel', 'w1', 'w1.1']);
    expect(again.code).toBe(0);
  });
});

describe('where nothing has run', () => {
  it.each([['ls'], ['resume'], ['retry', 'w1', '--failed']])('%s says so, and makes no folder', async (...words) => {
    const { code, stderr } = await here.run(words);
    expect(code).toBe(2);
    expect(stderr).toContain('nothing has run here yet');
    expect(existsSync(file('.drover'))).toBe(false);
  });
});
