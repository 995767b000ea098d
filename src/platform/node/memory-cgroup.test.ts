/** Version 2 is played by plain directories: a kernel has the memory controller in one version only. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { claimIn, findMemoryCgroups } from './memory-cgroup.ts';
import { readStat } from './process-tree.ts';
import { TaskCgroup } from './task-cgroup.ts';

const mountsOfV1 = `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw`;

describe('the cgroup of a process', () => {
  it('is found in version 1', () => {
    expect(findMemoryCgroups(mountsOfV1, '4:memory:/jobs/7\n1:cpu:/jobs\n0::/\n')).toEqual([
      { version: 1, path: '/sys/fs/cgroup/memory/jobs/7' },
      { version: 2, path: '/sys/fs/cgroup/unified/' },
    ]);
  });

  it('is found in version 2, and where a container sees its own part only', () => {
    const whole = '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate';
    const membership = '0::/system.slice/worker.service\n';
    expect(findMemoryCgroups(whole, membership)).toEqual([
      { version: 2, path: '/sys/fs/cgroup/system.slice/worker.service' },
    ]);
    const part = '30 23 0:26 /docker/ab /sys/fs/cgroup rw - cgroup cgroup rw,memory';
    expect(findMemoryCgroups(part, '4:memory:/docker/ab/in\n')).toEqual([{ version: 1, path: '/sys/fs/cgroup/in' }]);
    expect(findMemoryCgroups(part, '4:memory:/elsewhere\n')).toEqual([{ version: 1, path: '/sys/fs/cgroup' }]);
  });

  it('is missing where there is none', () => {
    expect(findMemoryCgroups('', '')).toEqual([]);
    expect(findMemoryCgroups(mountsOfV1, '1:cpu:/\n')).toEqual([]);
  });
});

describe('a directory for the cgroups of tasks', () => {
  let parent: string;
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'drover-cgroup-'));
  });
  afterEach(() => rmSync(parent, { recursive: true }));
  const put = (name: string, text: string): void => writeFileSync(join(parent, name), text);
  const get = (name: string): string => readFileSync(join(parent, name), 'utf8');
  const delegated = (processes: string, children = ''): void => {
    put('cgroup.controllers', 'cpu memory pids\n');
    put('cgroup.subtree_control', children);
    put('cgroup.procs', processes);
  };

  it('in version 2 makes a worker that is alone there move into a child first', () => {
    delegated(`${process.pid}\n`);
    expect(claimIn({ version: 2, path: parent }, 'drover-1.1')).toEqual({
      version: 2,
      path: join(parent, 'drover-1.1'),
    });
    expect(get('drover-1.1.worker/cgroup.procs')).toBe(String(process.pid));
    expect([get('cgroup.subtree_control'), get('drover-1.1/cgroup.subtree_control')]).toEqual(['+memory', '+memory']);
  });

  it('in version 2 is made where the children are limited already, and the worker stays', () => {
    delegated('1\n2\n', 'memory\n');
    expect(claimIn({ version: 2, path: parent }, 'drover-1.1')).toBeDefined();
    expect(existsSync(join(parent, 'drover-1.1.worker'))).toBe(false);
  });

  it.each([
    ['others are beside the worker', () => delegated(`1\n${process.pid}\n`)],
    ['memory is not delegated', () => put('cgroup.controllers', 'cpu pids\n')],
    ['there is nothing', () => {}],
  ])('in version 2 is not made, and nothing is left, when %s', (_, prepare) => {
    prepare();
    const before = readdirSync(parent);
    expect(claimIn({ version: 2, path: parent }, 'drover-1.1')).toBeUndefined();
    expect(readdirSync(parent)).toEqual(before);
  });

  it('replaces those of workers that are dead, and only those', () => {
    const alive = `drover-${process.pid}.${readStat(process.pid)?.startTicks}`;
    const dead = ['drover-4194305.7', `drover-${process.pid}.1`];
    for (const name of [...dead, alive, 'drover-other', 'other'])
      mkdirSync(join(parent, name, '12'), { recursive: true });
    expect(claimIn({ version: 1, path: parent }, 'drover-9.9')).toBeDefined();
    expect(readdirSync(parent).sort()).toEqual([alive, 'drover-9.9', 'drover-other', 'other'].sort());
  });
});

describe('the cgroup of a task in version 2', () => {
  let path: string;
  beforeEach(() => {
    path = mkdtempSync(join(tmpdir(), 'drover-cgroup-'));
  });
  afterEach(() => rmSync(path, { recursive: true, force: true }));
  const put = (name: string, text: string): void => writeFileSync(join(path, name), text);
  const get = (name: string): string => readFileSync(join(path, name), 'utf8');

  it('has the limit, no swap, and dies as a whole', () => {
    expect(new TaskCgroup(path, '/', 2).limit(1_000)).toBe(true);
    expect(['memory.max', 'memory.swap.max', 'memory.oom.group'].map(get)).toEqual(['1000', '0', '1']);
  });

  it.each([
    ['low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\noom_group_kill 0\n', undefined],
    ['low 0\nhigh 0\nmax 9\noom 1\noom_kill 3\noom_group_kill 1\n', 'task'],
    ['low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n', 'machine'],
  ])('says who was killed, and for what: %j', (events, killed) => {
    put('memory.events', events);
    expect(new TaskCgroup(path, '/', 2).killed).toBe(killed);
  });

  it('tells the peak without files that the kernel may take back', () => {
    put('memory.peak', '1000\n');
    put('memory.stat', 'anon 5\nfile 300\nkernel 1\nshmem 100\nfile_mapped 7\n');
    expect(new TaskCgroup(path, '/', 2).peakBytes).toBe(800);
  });
});
