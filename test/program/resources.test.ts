/** Tasks that take more than their share of the machine, and machines that have little to give. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lastJson, launcher, mark, type Place, place, processesOf, sleepers, until } from './drover.ts';

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

const file = (name: string): string => join(here.path, name);
const megabyte = 1024 * 1024;
const peakBytesMax = 300 * megabyte;

/** Of the command and of what it has started, the highest peak of each while it ran. */
function watchPeaks(pid: number): { peakBytes(): number } {
  let most = 0;
  const look = (): void => {
    for (const one of [pid, ...processesOf(here.path)]) most = Math.max(most, peakOf(one));
  };
  const timer = setInterval(look, 50);
  return {
    peakBytes: () => {
      clearInterval(timer);
      return most;
    },
  };
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

describe('a task that prints very much', () => {
  // The whole gigabyte takes a minute or two: DROVER_TEST_OUTPUT_MB=1024.
  const bytes = Number(process.env.DROVER_TEST_OUTPUT_MB ?? 64) * megabyte;
  const print = `yes 0123456789abcdef0123456789abcdef | head -c ${bytes}`;
  const sumOf = (command: string): string =>
    execFileSync('sh', ['-c', `${command} | md5sum`], { cwd: here.path, encoding: 'utf8' });

  it('costs disk, not memory, and all of it is kept', { timeout: 600_000 }, async () => {
    const run = here.start(['run', '--json', '-'], `${print}\necho beside\n`);
    const peaks = watchPeaks(run.pid);
    const { code, stdout } = await run.ended;
    expect([code, lastJson(stdout)]).toEqual([0, expect.objectContaining({ done: 2 })]);
    expect(peaks.peakBytes()).toBeLessThan(peakBytesMax);
    expect(sumOf(`"${launcher}" logs w1.1`)).toBe(sumOf(print));
    const logs = here.start(['logs', 'w1.1', '--stderr']);
    expect(await logs.ended).toMatchObject({ code: 0, stdout: '' });
    expect(readdirSync(file('.drover/worker'))).toEqual(['lock']);
  });
});

describe('output whose file is gone', () => {
  it('is said to be missing, by how much, and what is left is shown', async () => {
    await here.run(['run', '--quiet', '-j1', '-'], { input: 'head -c 300000 /dev/zero; echo end\necho other\n' });
    rmSync(file('.drover/output'), { recursive: true });
    const gone = await here.run(['logs', 'w1.1']);
    expect(gone.stdout).toBe('');
    expect(gone.stderr).toMatch(/^drover: 293\.0 KiB are missing here: .*\.drover\/output is gone\n$/);
    expect((await here.run(['show', 'w1.1'])).code).toBe(0);
    expect((await here.run(['run', 'echo {}', ':::', 'new'])).stdout).toBe('new\n');
  });
});

describe('with few descriptors', () => {
  const via = ['sh', '-c', 'ulimit -n 256; exec "$@"', 'sh'];

  it.each([
    ['a thousand short tasks', 1_000, 'echo'],
    ['two hundred that take a while', 200, 'sleep 0.3; echo'],
  ])('%s are all run, and who asked for 200 slots hears what to raise', async (_, count, command) => {
    const input = Array.from({ length: count }, (_, n) => `${command} ${n}`).join('\n');
    const { code, stderr } = await here.run(['run', '-j200', '-'], { input, via });
    expect([code, stderr]).toEqual([0, expect.stringContaining('96 slots instead of 200: only 256 files may be open')]);
    expect(stderr).toContain("'ulimit -n 464' allows them all");
    expect(await here.json(['show', 'w1', '--json'])).toMatchObject({ state: 'done' });
    const { history } = (await here.json(['show', `w1.${count}`, '--json'])) as { history: object[] };
    expect(history).toHaveLength(1);
  });
});

describe('a task with a thousand children', () => {
  const forks = (duration: string): string => `for i in $(seq 1000); do sleep ${duration} & done`;

  it.each<[string, string, string[], number, object]>([
    ['that is cancelled', '; wait', [], 1_000, { cancelled: 1 }],
    ['that takes too long', '; wait', ['--timeout', '3s'], 100, { failed: 1 }],
    ['that ends before them', '; sleep 1', [], 1_000, { done: 1 }],
  ])('%s leaves none of them, soon, and keeps no other task waiting', async (what, last, options, seen, result) => {
    const long = mark();
    const run = here.start(['run', '--json', '-j2', ...options, '-'], `${forks(long)}${last}\n`);
    await until('they run', () => sleepers(long).length >= seen);
    const begin = performance.now();
    if (what === 'that is cancelled') expect((await here.run(['cancel', 'w1.1'])).code).toBe(0);
    expect(await here.run(['run', 'echo {}', ':::', 'beside'])).toMatchObject({
      code: 0,
      stdout: 'beside\n',
    });
    await until('all are dead', () => sleepers(long).length === 0);
    expect(performance.now() - begin).toBeLessThan(10_000);
    expect(lastJson((await run.ended).stdout)).toMatchObject(result);
  });

  it('that bomb the machine within their limit are dead after a cancel', async () => {
    // Root has no limit on processes, and another user none of this folder: a bomb that counts itself is as good.
    const bomb = 'bomb() { [ $1 -gt 0 ] || exec sleep $D; bomb $(($1-1)) & bomb $(($1-1)) & wait; }; bomb 8';
    const long = mark();
    const run = here.start(['run', '--json', '-j1', '-'], `D=${long}; ${bomb}\n`);
    await until('all run', () => sleepers(long).length === 256);
    expect((await here.run(['cancel', 'w1'])).code).toBe(0);
    expect((await run.ended).code).toBe(1);
    expect([sleepers(long), processesOf(here.path)]).toEqual([[], []]);
  });
});

describe('a task that harms Drover', () => {
  it('by killing the process that runs it is tried again, and so is what ran beside it; the rest is not', async () => {
    const kills =
      'echo k >> ran; until [ -e going ]; do sleep 0.02; done; [ $DROVER_ATTEMPT -gt 1 ] || kill -9 $PPID; echo end';
    const beside = `touch going; echo b >> ran; [ $DROVER_ATTEMPT -gt 1 ] || sleep ${mark()}; echo end`;
    const { code, stdout } = await here.run(['run', '--json', '-j2', '-'], {
      input: `echo q >> ran\n${kills}\n${beside}\n`,
    });
    expect([code, lastJson(stdout)]).toEqual([0, expect.objectContaining({ done: 3, attempts: 5 })]);
    expect([...readFileSync(file('ran'), 'utf8').replaceAll('\n', '')].sort().join('')).toBe('bbkkq');
    for (const id of ['w1.2', 'w1.3']) expect((await here.run(['logs', id])).stdout).toBe('end\n');
  });

  it('by removing its folder ends the run with exit 4, and does not pass for done', async () => {
    const input = 'echo a\nrm -rf .drover; echo b\nsleep 0.2; echo c\n';
    const { code, stderr } = await here.run(['run', '-j1', '-'], { input });
    expect([code, stderr]).toEqual([
      4,
      expect.stringMatching(/drover\.db was removed or replaced while it was in use/),
    ]);
    expect(processesOf(here.path)).toEqual([]);
    expect((await here.run(['run', 'echo {}', ':::', 'new'])).stdout).toBe('new\n');
  });

  it('by removing the files of its output loses those, and nothing else', async () => {
    const input = 'echo a\necho b; rm -f .drover/worker/slot-*; echo c\necho d\n';
    const { code, stdout } = await here.run(['run', '--json', '-j1', '-'], { input });
    expect([code, lastJson(stdout)]).toEqual([0, expect.objectContaining({ done: 3 })]);
    expect((await here.run(['logs', 'w1.1'])).stdout).toBe('a\n');
    writeFileSync(file('x'), (await here.run(['logs', 'w1.3'])).stdout);
    expect(readFileSync(file('x'), 'utf8')).toBe('d\n');
  });
});
