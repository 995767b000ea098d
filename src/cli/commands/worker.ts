/** `drover worker`: runs tasks for a controller, in the foreground. */
import { resolve } from 'node:path';
import type { LogLevel } from '../../model/limits.ts';
import { type Context, inFolder } from '../context.ts';
import type { WorkOptions } from '../programs.ts';

export interface WorkerOptions {
  readonly dir?: string;
  readonly access?: string;
  readonly slots?: number;
  readonly queue?: string;
  readonly memory?: number;
  readonly gpus?: number;
  readonly pool?: Readonly<Record<string, number>>;
  readonly until?: number;
  readonly shard?: string;
  readonly logLevel?: LogLevel;
}

export function worker({ env, programs }: Context, options: WorkerOptions): Promise<number> {
  const { dir, access, slots = env.cores, shard, logLevel } = options;
  const name = shard === undefined ? {} : { shard };
  const level = logLevel === undefined ? {} : { logLevel };
  const file = access === undefined ? {} : { access: resolve(env.cwd, access) };
  const until = options.until === undefined ? {} : { untilMs: options.until };
  const means = { ...inFolder(dir), ...file, ...level, ...name, ...until, slots, capacity: capacityOf(options) };
  return programs.work(means, (directory) => {
    const many = slots === 1 ? '1 slot' : `${slots} slots`;
    void env.stderr.write(`drover: a worker with ${many} runs in ${directory}; Ctrl-C ends it and its tasks\n`);
  });
}

const capacityOf = ({ queue, memory, gpus, pool }: WorkerOptions): WorkOptions['capacity'] => ({
  ...(queue === undefined ? {} : { queue }),
  ...(memory === undefined ? {} : { memoryBytes: memory }),
  ...(gpus === undefined ? {} : { gpus }),
  ...(pool === undefined ? {} : { pools: pool }),
});
