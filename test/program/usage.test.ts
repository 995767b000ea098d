/** What tasks use, as a real worker measures it: against what the tasks say of themselves. */
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskDetail } from '../../src/protocol/views/tasks.ts';
import type { UsageOverTime } from '../../src/sdk/usage-series.ts';
import { WorkerClient } from '../../src/sdk/worker-client.ts';
import { Herd } from './herd.ts';

const megabyte = 1024 * 1024;
const herd = new Herd();

/** Two GPUs, of which one is half busy, and the other not at all. */
function installGpus(): void {
  const program = join(herd.path, 'nvidia-smi');
  const list = 'GPU 0: A (UUID: GPU-a)\nGPU 1: B (UUID: GPU-b)';
  const loop = 'while :; do printf "0, GPU-a, 50\\n1, GPU-b, 0\\n"; sleep 0.5; done';
  writeFileSync(program, `#!/bin/bash\nif [ "$1" = -L ]; then echo '${list}'; else ${loop}; fi\n`);
  chmodSync(program, 0o755);
}

beforeAll(async () => {
  installGpus();
  await herd.server();
  await herd.workerIn({ PATH: `${herd.path}:${process.env.PATH}` }, '-j', '6');
});
afterAll(() => herd.close());

/** Uses the processor for so long as its own clock of it says. */
const burn = 'my $n = 0; while ((times)[0] < 0.3) { $n += $_ for 1..10_000 }';
/**
 * Takes 60 MB more in each of four steps, with a child that uses the processor, and keeps all until it may go; says in the
 * end what it used, with its children, and its peak, by the kernel's account.
 */
const steps = String.raw`
use Time::HiRes qw(sleep);
my @held;
for my $step (1..4) {
  push @held, "x" x (60 * 1048576);
  system("perl", "burn.pl");
  sleep 1;
}
sleep 0.1 until -e "go";
my $used = 0;
$used += $_ for times;
open my $status, "<", "/proc/self/status";
my ($peak) = grep { /VmHWM/ } <$status>;
$peak =~ s/\D//g;
printf "%d %d\n", 1000 * $used, 1024 * $peak;
`;

interface Finished {
  readonly task: string;
  readonly detail: TaskDetail;
  readonly usage: UsageOverTime;
}

const spec = () => ({
  ...{ cwd: herd.path, shell: '/bin/bash', env: { PATH: process.env.PATH ?? '' } },
  ...{ maxAttempts: 1, terminationMs: 300, failFast: false, open: false },
});

async function begin(command: string, resources?: { readonly gpus: number }): Promise<string> {
  const tasks = [{ command, ...(resources === undefined ? {} : { resources }) }];
  const { id } = await herd.client.submitWhole(spec(), { tasks, edges: [] });
  return `${id}.1`;
}

async function finish(command: string, resources?: { readonly gpus: number }): Promise<Finished> {
  return endOf(await begin(command, resources));
}

async function endOf(task: string): Promise<Finished> {
  const detail = await herd.untilSome(`the end of ${task}`, async () => {
    const found = await herd.task(task);
    return found.history[0]?.endedAt === undefined ? undefined : found;
  });
  return { task, detail, usage: await herd.client.usage(task) };
}

async function textOf(task: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(herd.client.output(task, { stream: 'stdout' }))).toString();
}

const mostOf = (points: UsageOverTime['memory']): number => Math.max(0, ...points.map(({ value }) => value));

const area = ({ startedAt = 0 }: UsageOverTime, points: UsageOverTime['cpu']): number =>
  points.reduce((sum, { at, value }, index) => sum + value * (at - (points[index - 1]?.at ?? startedAt)), 0);

describe.concurrent('a task that takes memory in steps, and whose children use the processor', () => {
  it('has a series whose peak and sum are those of its own account', async () => {
    herd.write('burn.pl', burn);
    herd.write('steps.pl', steps);
    const task = await begin('perl steps.pl; true');
    await herd.untilSome('the last step', async () => {
      const { history } = await herd.task(task);
      if (history[0]?.startedAt === undefined) return undefined;
      return mostOf((await herd.client.usage(task)).memory) > 240 * megabyte;
    });
    herd.write('go');
    const { detail, usage } = await endOf(task);
    const [ownCpuMs = 0, ownPeak = 0] = (await textOf(task)).split(' ').map(Number);
    const { cpuMs = 0, peakBytes = 0 } = detail.history[0] ?? {};
    expect(ownCpuMs).toBeGreaterThan(1_000);
    // The shell around it is not in its account.
    expect(cpuMs).toBeGreaterThanOrEqual(ownCpuMs - 20);
    expect(cpuMs).toBeLessThan(ownCpuMs + 200);
    // The mean of each sample is rounded to a thousandth of a processor.
    expect(Math.abs(area(usage, usage.cpu) - cpuMs)).toBeLessThan(30);
    expect(usage.memory.length).toBeGreaterThanOrEqual(3);
    expect(ownPeak).toBeGreaterThan(240 * megabyte);
    expect(Math.abs(peakBytes - ownPeak)).toBeLessThan(20 * megabyte);
    expect(mostOf(usage.memory)).toBeGreaterThan(ownPeak - 8 * megabyte);
    expect(mostOf(usage.memory)).toBeLessThan(ownPeak + 20 * megabyte);
    expect(usage.memory[0]?.value).toBeLessThan(ownPeak - 50 * megabyte);
    const { stdout } = await herd.run('show', task);
    expect(stdout).toMatch(/^memory {4}.+ at most \d+\.\d MiB$/m);
    expect(stdout).toMatch(/^cpu {7}.+ at most [\d.]+ cores, [\d.]+ on average$/m);
    const shown = JSON.parse((await herd.run('show', task, '--json')).stdout) as { readonly usage: UsageOverTime };
    expect(shown.usage).toEqual(usage);
  });
});

describe.concurrent('the samples of attempts', () => {
  it('come out of the same call, whoever ran them (A7, A8)', async () => {
    const own = await finish('sleep 3.5');
    const { url, tokens } = herd.access;
    const worker = await WorkerClient.register(
      { url, token: tokens.worker },
      { name: 'by hand', capacity: { queue: 'by-hand' } },
    );
    const batch = { tasks: [{ command: 'x', resources: { queue: 'by-hand' } }], edges: [] };
    const { id } = await herd.client.submitWhole(spec(), batch);
    const [claim] = await worker.claim({ waitMs: 10_000 });
    if (claim === undefined) throw new Error('nothing was claimed');
    await worker.reportUsage(claim, 'memory_usage', { value: 5 * megabyte });
    await worker.end(claim, { exit_status: 0 });
    const theirs = await herd.client.executionInfo(`${id}.1`);
    const ours = await herd.client.executionInfo(own.task);
    expect(theirs.memory_usage.map(({ value }) => value)).toEqual([5 * megabyte]);
    expect(ours.memory_usage.length).toBeGreaterThanOrEqual(2);
    for (const { at, value } of ours.memory_usage) {
      expect(value).toBeGreaterThan(0);
      expect(Date.parse(at)).toBeGreaterThanOrEqual(own.usage.startedAt ?? Number.POSITIVE_INFINITY);
      expect(Date.parse(at)).toBeLessThanOrEqual((own.usage.endedAt ?? 0) + 1_000);
    }
    await worker.leave();
  });

  it('are none for a task that is over at once', async () => {
    const { usage } = await finish('sleep 0.3');
    expect([usage.memory, usage.cpu, usage.gpu]).toEqual([[], [], []]);
  });
});

it.concurrent('a task that asked for GPUs has a series of how busy they are, and others have none', async () => {
  const [with_, without] = await Promise.all([finish('sleep 6', { gpus: 2 }), finish('sleep 4')]);
  expect(with_.usage.gpu.length).toBeGreaterThanOrEqual(1);
  for (const { value } of with_.usage.gpu) expect(value).toBeCloseTo(0.5, 2);
  expect(without.usage.gpu).toEqual([]);
});
