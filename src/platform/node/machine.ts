/** What this machine has for tasks, as far as this process may use it. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, hostname, machine, release, totalmem, type } from 'node:os';
import type { Capacity } from '../../model/capacity.ts';
import { defaultQueue } from '../../model/need.ts';
import type { MachineView } from '../../protocol/views/server.ts';

/** A driver that hangs must not keep a worker from starting. */
const askingMsMax = 5_000;

/** What is not said is as the machine is. */
export const capacityHere = ({ queue, memoryBytes, gpus, pools }: Partial<Capacity> = {}): Capacity => ({
  ...{ queue: queue ?? defaultQueue, memoryBytes: memoryBytes ?? memoryHere(), gpus: gpus ?? gpusHere() },
  ...(pools === undefined ? {} : { pools }),
});

/** The machine's memory, or less where the cgroup of this process has a limit. */
export function memoryHere(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

/** Those that this process may use: as `CUDA_VISIBLE_DEVICES` says where it is set, else all that `nvidia-smi` knows of. */
export function gpusHere(visible: string | undefined = process.env.CUDA_VISIBLE_DEVICES): number {
  if (visible !== undefined) {
    return visible.split(',').filter((name) => name.trim() !== '' && name.trim() !== '-1').length;
  }
  const { stdout, status } = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8', timeout: askingMsMax });
  return status === 0 ? gpusIn(stdout) : 0;
}

/** A line each: `GPU 0: NVIDIA A100 (UUID: …)`. */
export const gpusIn = (list: string): number => list.split('\n').filter((line) => /^GPU \d+:/.test(line)).length;

/** For people who want to know where something ran. */
export const machineHere = (): MachineView => ({
  host: hostname(),
  os: `${type()} ${release()} ${machine()}`,
  cpus: availableParallelism(),
  memoryBytes: memoryHere(),
});
