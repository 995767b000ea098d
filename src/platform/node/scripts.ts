/** Programs beside the one that runs: sources in development, bundles otherwise. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

export const siblingScript = (from: string, name: 'cli' | 'worker' | 'spawner'): string =>
  fileURLToPath(new URL(`./${name}${extname(fileURLToPath(from))}`, from));
