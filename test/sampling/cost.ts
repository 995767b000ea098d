/** The CPU time of two spawners with the same tasks, side by side: one looks at them, the other does not. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Driver, until } from '../../src/spawner/driver.testing.ts';

const shellWithChild = 'sleep 100000; true';

export const kinds = {
  'single processes': { command: 'exec sleep 100000' },
  'a shell and its child': { command: shellWithChild },
  'a shell, a shell and its child': { command: "sh -c 'sleep 100000; true'; true" },
  /** Far below it, where only looking tells. */
  'a shell and its child, with a limit of memory': { command: shellWithChild, memoryBytes: 4 * 1024 ** 3 },
} as const satisfies Record<string, Work>;

interface Work {
  readonly command: string;
  readonly memoryBytes?: number;
}
export type Kind = keyof typeof kinds;

export interface SamplingCost {
  /** Shares of one processor. */
  readonly looking: number;
  readonly idle: number;
  readonly processes: number;
}

const entry = resolve(import.meta.dirname, '..', '..', '.bundle', 'spawner.js');
/** Until the code is compiled, and the tasks are old. */
const warmUpMs = 10_000;
const tickMs = 10;

export async function samplingCost(options: {
  readonly kind: Kind;
  readonly tasks: number;
  readonly ms: number;
}): Promise<SamplingCost> {
  const drivers = [new Driver({ entry }), new Driver({ entry, args: ['--sampling=off'] })] as const;
  try {
    const { kind, tasks } = options;
    const work: Work = kinds[kind];
    await begin(drivers[0], work, tasks);
    await begin(drivers[1], { command: work.command }, tasks);
    await pause(warmUpMs);
    const pids = drivers.map((driver) => driver.process.pid ?? 0);
    const before = pids.map(cpuMsOf);
    const beganMs = performance.now();
    await pause(options.ms);
    const passedMs = performance.now() - beganMs;
    const [looking = 0, idle = 0] = pids.map((pid, at) => (cpuMsOf(pid) - (before[at] ?? 0)) / passedMs);
    return { looking, idle, processes: countBelow(pids[0] ?? 0) };
  } finally {
    for (const driver of drivers) await driver.close();
  }
}

/** At different times, as tasks begin. */
async function begin(driver: Driver, { command, ...limit }: Work, tasks: number): Promise<void> {
  for (let count = 0; count < tasks; count++) {
    driver.start(command, { shell: '/bin/sh', ...limit });
    await pause(10);
  }
  const started = (): number => driver.messages.filter(({ t }) => t === 'started').length;
  await until(() => started() === tasks, `${tasks} tasks to start`);
}

function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);

const countBelow = (pid: number): number => childrenOf(pid).reduce((sum, child) => sum + 1 + countBelow(child), 0);
