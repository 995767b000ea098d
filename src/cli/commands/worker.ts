/** `drover worker`: runs tasks for a controller, in the foreground. */
import { resolve } from 'node:path';
import { type Context, inFolder } from '../context.ts';

export interface WorkerOptions {
  readonly dir?: string;
  readonly access?: string;
  readonly slots?: number;
}

export function worker({ env, programs }: Context, { dir, access, slots = env.cores }: WorkerOptions): Promise<number> {
  const file = access === undefined ? {} : { access: resolve(env.cwd, access) };
  return programs.work({ ...inFolder(dir), ...file, slots }, (directory) => {
    const many = slots === 1 ? '1 slot' : `${slots} slots`;
    void env.stderr.write(`drover: a worker with ${many} runs in ${directory}; Ctrl-C ends it and its tasks\n`);
  });
}
