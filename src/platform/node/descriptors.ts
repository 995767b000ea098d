/** How many files and sockets this process may have open. */
import { readProc } from './process-tree.ts';

export function descriptorLimit(): number {
  const limits = readProc('/proc/self/limits')?.toString('latin1') ?? '';
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}
