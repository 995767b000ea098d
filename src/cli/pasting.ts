/** Commands that are printed to be pasted. */
import { resolve } from 'node:path';
import { typeable } from '../definition/shell/quoting.ts';
import type { CliEnv } from './environment.ts';

/** Makes each command one for the same folder, wherever it is pasted: it names the folder if that was named here. */
export function pastingInto({ cwd, variables }: CliEnv, dir: string | undefined): (command: string) => string {
  const isGiven = dir !== undefined && dir !== (variables.DROVER_DIR && resolve(cwd, variables.DROVER_DIR));
  return isGiven ? (command) => `${command} --dir ${typeable(dir)}` : (command) => command;
}
