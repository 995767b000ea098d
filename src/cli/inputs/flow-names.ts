/** Whether an input is a definition: by its name, or because it is said so. Known before anything that reads one is loaded. */
import { extname } from 'node:path';
import type { InputOptions } from './inputs.ts';

const extensions = ['.yaml', '.yml', '.json'];

export function isFlow([input, ...more]: readonly string[], { flow, sources, array }: InputOptions): boolean {
  if (flow === true) return true;
  const isFile = input !== undefined && more.length === 0 && sources.length === 0 && array === undefined;
  return isFile && extensions.includes(extname(input));
}
