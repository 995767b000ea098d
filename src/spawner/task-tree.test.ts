import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { loadLibc } from '../platform/node/libc.ts';
import { ProcFiles, TICK_MS } from '../platform/node/process-look.ts';
import { killTree, readProc, readStat } from '../platform/node/process-tree.ts';
import { until } from './driver.testing.ts';
import { TaskTree } from './task-tree.ts';

const files = new ProcFiles(loadLibc(), () => 0);
const filesOfNode = new ProcFiles(undefined, () => 0);
/** None is kept. */
const scarceFiles = new ProcFiles(loadLibc(), () => Number.POSITIVE_INFINITY);
const children: ChildProcess[] = [];
const trees: TaskTree[] = [];
afterEach(() => {
  for (const tree of trees.splice(0)) tree.close();
  for (const { pid } of children.splice(0)) if (pid !== undefined) killTree(pid, { includeRoot: true });
});

type Task = { readonly pid: number; readonly tree: TaskTree; said(line: string): boolean; tell(line: string): void };

function start(script: string, means = files): Task {
  const child = spawn('/bin/bash', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
  children.push(child);
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  const tree = new TaskTree(means);
  trees.push(tree);
  const said = (line: string): boolean => text.split('\n').includes(line);
  return { pid: child.pid ?? 0, tree, said, tell: (line) => child.stdin.write(`${line}\n`) };
}

const look = ({ pid, tree }: Task, isExact = false): boolean => tree.look([pid], performance.now(), isExact);

/** What the kernel says of one process: its own time, and that of children that it waited for. */
function accountOf(pid: number): number {
  const stat = readProc(`/proc/${pid}/stat`)?.toString('latin1') ?? '';
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * TICK_MS;
}

/** Uses the processor for a while, in a process of its own. */
const burn = "perl -e 'my $n = 0; $n += $_ for 1..4_000_000'";

describe('the processor time of a tree', () => {
  it.each([
    ['by libc', files],
    ['by Node', filesOfNode],
    ['with few descriptors', scarceFiles],
  ])('has what children used that have ended since, once, and never falls: %s', async (_, means) => {
    const task = start(
      `for i in 1 2 3 4 5 6; do ${burn}; done; (${burn}; ${burn}) & wait; echo done; read; sleep 100`,
      means,
    );
    const seen: number[] = [];
    let most = 0;
    await until(() => {
      look(task);
      seen.push(task.tree.cpuMs);
      most = Math.max(most, task.tree.size);
      return task.said('done');
    }, 'it to be done');
    look(task);
    look(task);
    expect(most).toBeGreaterThan(1);
    expect(seen.filter((value, index) => value < (seen[index - 1] ?? 0))).toEqual([]);
    const account = accountOf(task.pid);
    expect(account).toBeGreaterThan(20 * TICK_MS);
    // Each field is rounded down for itself.
    expect(Math.abs(task.tree.cpuMs - account)).toBeLessThanOrEqual(4 * TICK_MS);
  });

  it('has what a child used before its parent has waited for it', async () => {
    const task = start(`(${burn}; echo burnt; exec sleep 100) & read; kill %1; wait; echo over; read`);
    await until(() => task.said('burnt'), 'it to have burnt something');
    look(task);
    const used = task.tree.cpuMs;
    expect(used).toBeGreaterThan(TICK_MS);
    task.tell('go on');
    await until(() => task.said('over'), 'it to be over');
    look(task);
    expect(task.tree.size).toBe(1);
    expect(task.tree.cpuMs).toBeGreaterThanOrEqual(used);
    expect(task.tree.cpuMs - used).toBeLessThanOrEqual(8 * TICK_MS);
  });

  it('has it once, too, when a parent ends that has waited for children which were looked at', async () => {
    const task = start(`(${burn}; echo burnt; exec sleep 100) & read; kill %1; wait; exit`);
    await until(() => task.said('burnt'), 'it to have burnt something');
    look(task);
    const used = task.tree.cpuMs;
    task.tell('go on');
    await until(() => readStat(task.pid) === undefined, 'it to be over');
    task.tree.onReaped(task.pid, used + 5);
    expect(task.tree.cpuMs).toBeCloseTo(used + 5, 6);
  });

  it('takes the word of whoever waited for a process without a parent in the task', async () => {
    const task = start(`${burn}; echo burnt; read`);
    await until(() => task.said('burnt'), 'it to have burnt something');
    look(task);
    const used = task.tree.cpuMs;
    task.tree.onReaped(task.pid, used + 123);
    expect(task.tree.cpuMs).toBeCloseTo(used + 123, 6);
    // Of one that nobody has ever seen.
    task.tree.onReaped(999_999, 50);
    expect(task.tree.cpuMs).toBeCloseTo(used + 173, 6);
    expect(task.tree.size).toBe(0);
  });
});

const hasThreads = spawnSync('perl', ['-Mthreads', '-e', '1']).status === 0;

describe('the processes of a tree', () => {
  it.runIf(hasThreads)('are those of its threads, too, for who has to know exactly', async () => {
    const script = 'use threads; $| = 1; my $t = async { system(q(sleep 100)) }; print "on\\n"; $t->join';
    const task = start(`exec perl -e '${script}'`);
    await until(() => task.said('on'), 'its thread to run');
    await until(() => {
      look(task, true);
      return task.tree.size >= 2;
    }, 'the child of the thread');
  });

  it('have their memory together', async () => {
    const take = (megabytes: number): string =>
      `perl -e 'my $x = "x" x ${megabytes * 1_048_576}; $| = 1; print "on\\n"; sleep 100'`;
    const task = start(`(${take(30)} | sed -u s/on/one/) & (${take(50)} | sed -u s/on/two/) & wait`);
    await until(() => task.said('one') && task.said('two'), 'both to have it');
    look(task);
    const megabytes = task.tree.residentBytes / 1_048_576;
    expect(megabytes).toBeGreaterThan(80);
    expect(megabytes).toBeLessThan(300);
  });

  it('are others only when one has come or gone', async () => {
    const task = start('sleep 100 & echo on; read; kill %1; wait; echo off; read');
    await until(() => task.said('on'), 'it to run');
    expect([look(task), look(task)]).toEqual([true, false]);
    task.tell('go on');
    await until(() => task.said('off'), 'its child to be gone');
    expect([look(task), look(task)]).toEqual([true, false]);
    expect(task.tree.pids).toEqual([task.pid]);
  });
});

/** In a namespace of its own, where nobody else takes pids, and nobody else's come again. */
const ownPids = ['--pid', '--fork', '--mount-proc'];
const hasOwnPids = spawnSync('unshare', [...ownPids, 'test', '-w', '/proc/sys/kernel/ns_last_pid']).status === 0;

const sourceOf = (path: string): string => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));

/** Looks at a process, ends it, gives its pid to another one, and looks again. */
const reuse = (needed: string): string => `
  import { spawn } from 'node:child_process';
  import { once } from 'node:events';
  import { writeFileSync } from 'node:fs';
  import { loadLibc } from ${sourceOf('../platform/node/libc.ts')};
  import { ProcessLook, ProcFiles } from ${sourceOf('../platform/node/process-look.ts')};
  const files = new ProcFiles(loadLibc(), () => ${needed});
  const start = () => spawn('sleep', ['100'], { stdio: 'ignore' });
  const first = start();
  const look = ProcessLook.at(files, first.pid);
  const before = look.refresh();
  // Some ticks, by which the other one is younger.
  await new Promise((resolve) => setTimeout(resolve, 50));
  first.kill('SIGKILL');
  await once(first, 'exit');
  let second;
  do {
    second?.kill('SIGKILL');
    writeFileSync('/proc/sys/kernel/ns_last_pid', String(first.pid - 1));
    second = start();
  } while (second.pid !== first.pid);
  console.log(JSON.stringify([before, look.refresh(), ProcessLook.at(files, first.pid) !== undefined]));
  second.kill('SIGKILL');`;

describe.runIf(hasOwnPids)('a pid that is used again', () => {
  it.each([
    ['by the open file', '0'],
    ['by the time of its start, where none stays open', 'Number.POSITIVE_INFINITY'],
  ])('is not taken for the process that had it, %s', (_, needed) => {
    const words = [...ownPids, process.execPath, '--input-type=module', '-e', reuse(needed)];
    const { stdout } = spawnSync('unshare', words, { encoding: 'utf8', timeout: 30_000 });
    expect(JSON.parse(stdout)).toEqual([true, false, true]);
  });
});
