import type { Stats } from 'node:fs';
import { statSync } from 'node:fs';

/** undefined also for what may not be looked at, or has an impossible name: then a shell could not use it either. */
export function statIfAny(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
