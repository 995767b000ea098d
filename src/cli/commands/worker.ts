/** `drover worker`: runs tasks for a controller, in the foreground. */
import { resolve } from 'node:path';
import type { LogLevel } from '../../model/limits.ts';
import { type Context, inFolder } from '../context.ts';

export interface WorkerOptions {
  readonly dir?: string;
  readonly access?: string;
  readonly slots?: number;
  readonly shard?: string;
  readonly logLevel?: LogLevel;
}

export function worker({ env, programs }: Context, options: WorkerOptions): Promise<number> {
  const { dir, access, slots = env.cores, shard, logLevel } = options;
  const name = shard === undefined ? {} : { shard };
  const level = logLevel === undefined ? {} : { logLevel };
  const file = access === undefined ? {} : { access: resolve(env.cwd, access) };
  return programs.work({ ...inFolder(dir), ...file, ...level, ...name, slots }, (directory) => {
    const many = slots === 1 ? '1 slot' : `${slots} slots`;
    void env.stderr.write(`drover: a worker with ${many} runs in ${directory}; Ctrl-C ends it and its tasks\n`);
  });
}
