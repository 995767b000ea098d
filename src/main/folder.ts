/** The `.drover` folder that a command works with. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const folderName = '.drover';

/** Found upward like `.git`; the one to make in the working directory when there is none. */
export function findDirectory(given: string | undefined): string {
  const named = given ?? process.env.DROVER_DIR;
  if (named !== undefined && named !== '') return resolve(named);
  // Within a task: a run that joined its parent would wait for the slot that the parent's task holds.
  const { DROVER_TASK_ID: task, DROVER_TASK_DIR: scratch } = process.env;
  if (task !== undefined && scratch !== undefined) return join(scratch, folderName);
  for (let at = process.cwd(); ; at = dirname(at)) {
    const found = join(at, folderName);
    if (existsSync(found)) return found;
    if (at === dirname(at)) return join(process.cwd(), folderName);
  }
}
