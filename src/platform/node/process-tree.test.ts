import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  childrenByParent,
  descendants,
  killTree,
  readEnvironmentEntry,
  readMemory,
  readStat,
  reapTagged,
} from './process-tree.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) if (child.pid !== undefined) killTree(child.pid, { includeRoot: true });
});

/** Runs a script and waits for the line that holds its pids. */
async function tree(script: string, env: Record<string, string> = {}): Promise<{ root: number; pids: number[] }> {
  const child = spawn('/bin/bash', ['-c', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { root: child.pid ?? 0, pids: line.toString().trim().split(' ').map(Number) };
}

/** A process that was killed is dead when it next gets the CPU. */
const allDead = (pids: readonly number[]) => vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]));

const isAlive = (pid: number): boolean => !['Z', 'X', undefined].includes(readStat(pid)?.state);
const NESTED = 'sleep 1000 & A=$!; bash -c "sleep 1000 & echo $A \\$\\$ \\$!; wait" & wait';

describe('a process tree', () => {
  it('lists what is below a process, parents first', async () => {
    const { root, pids } = await tree(NESTED);
    const [sleeper, shell, grandchild] = pids as [number, number, number];
    const found = descendants(root);
    expect(new Set(found)).toEqual(new Set([sleeper, shell, grandchild]));
    expect(found.indexOf(shell)).toBeLessThan(found.indexOf(grandchild));
  });

  it('lists the same on a kernel that has no children files', async () => {
    const { root, pids } = await tree(NESTED);
    const childrenOf = childrenByParent();
    expect(new Set(childrenOf(root))).toEqual(new Set(pids.slice(0, 2)));
    expect(childrenOf(pids[1] ?? 0)).toEqual([pids[2]]);
  });

  it('is empty for a process that is gone', () => {
    expect(descendants(2 ** 22 + 1)).toEqual([]);
    expect(readStat(2 ** 22 + 1)).toBeUndefined();
    expect(readMemory([2 ** 22 + 1])).toEqual({ rssBytes: 0, largestPeakBytes: 0, takenBytes: 0 });
  });

  it('is killed below its root, which lives on', async () => {
    const { root, pids } = await tree(`${NESTED}; sleep 1000`);
    expect(killTree(root)).toBeGreaterThanOrEqual(3);
    await allDead(pids);
    expect(isAlive(root)).toBe(true);
  });

  it('is killed except for those spared, and what is below them', async () => {
    const { root, pids } = await tree(NESTED);
    const [sleeper, shell, grandchild] = pids as [number, number, number];
    killTree(root, { spare: new Set([shell]) });
    await allDead([sleeper]);
    expect([shell, grandchild].map(isAlive)).toEqual([true, true]);
  });

  it('is killed while it forks', async () => {
    const { root } = await tree('spin() { while :; do sleep 1000 & done; }; (spin) & (spin) & echo $$; wait');
    killTree(root, { includeRoot: true, msMax: 5_000 });
    await allDead([root]);
    expect(descendants(root)).toEqual([]);
  });

  it('tells its memory', async () => {
    const memory = readMemory([process.pid]);
    expect(memory.rssBytes).toBeGreaterThan(10e6);
    expect(memory.largestPeakBytes).toBeGreaterThanOrEqual(memory.rssBytes * 0.9);
  });
});

describe('the environment of a process', () => {
  it('is read by name, and not taken from the end of another name', async () => {
    const { root } = await tree('echo $$; sleep 1000; :', { XTAG: 'wrong', TAG: 'right', LONG: 'x'.repeat(100_000) });
    expect(readEnvironmentEntry(root, 'TAG')).toBe('right');
    expect(readEnvironmentEntry(root, 'NONE')).toBeUndefined();
  });

  it('is found while the process does nothing but exec', async () => {
    const again = 'echo $$; exec "$BASH" -c "$AGAIN" >/dev/null';
    const { root } = await tree(again, { AGAIN: again, TAG: 'right' });
    const values = new Set(Array.from({ length: 3_000 }, () => readEnvironmentEntry(root, 'TAG')));
    expect([...values]).toEqual(['right']);
  });

  it('is none at once for a process without any, and for a thread of the kernel', async () => {
    const { pids } = await tree('env -i sleep 1000 & echo $! 2; wait');
    await vi.waitFor(() => expect(readEnvironmentEntry(pids[0] as number, 'PATH')).toBeUndefined());
    const beganMs = performance.now();
    for (let count = 0; count < 100; count += 1) for (const pid of pids) readEnvironmentEntry(pid, 'PATH');
    expect(performance.now() - beganMs).toBeLessThan(2_000);
  });

  it('finds all processes with a tag, and kills them with all below them', async () => {
    const tag = `DROVER_TEST_TAG=${process.pid}-${performance.now()}`;
    const [name, value] = tag.split('=') as [string, string];
    const tagged = await tree('(setsid sleep 1000 & echo $! $$); sleep 1000', {
      [name]: value,
    });
    const longer = await tree('echo $$; sleep 1000; :', { [name]: `${value}0` });
    expect(reapTagged(tag)).toBeGreaterThanOrEqual(2);
    await allDead(tagged.pids);
    expect(isAlive(longer.root)).toBe(true);
  });
});
