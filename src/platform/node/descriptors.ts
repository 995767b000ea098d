/** How many files and sockets a process may have open, and what follows from it. */
import { readProc } from './process-tree.ts';

export function descriptorLimit(): number {
  const limits = readProc('/proc/self/limits')?.toString('latin1') ?? '';
  return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
}

/** The spawner's own: pipes, the lock, libraries, and those that it keeps in reserve to look at processes. */
const ownDescriptors = 64;
const perSlot = 2;

/** What so many slots need at most. */
export const descriptorsFor = (slots: number): number => slots * perSlot + ownDescriptors;

/** As many slots as there are descriptors for their tasks' output. */
export const slotsWithin = (slots: number, limit = descriptorLimit()): number =>
  Math.max(1, Math.min(slots, Math.floor((limit - ownDescriptors) / perSlot)));

/** What to tell whoever asked for more slots than there can be; undefined when there can. */
export function slotsNote(slots: number, limit = descriptorLimit()): string | undefined {
  const possible = slotsWithin(slots, limit);
  if (possible === slots) return undefined;
  const needed = descriptorsFor(slots);
  return `${possible} slots instead of ${slots}: only ${limit} files may be open here; 'ulimit -n ${needed}' allows them all`;
}
