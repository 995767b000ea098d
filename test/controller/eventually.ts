/** Waits for what a controller or a command does by itself: as briefly as it takes, and on a busy machine long enough. */
import { vi } from 'vitest';

/** Resolves with what `look` returns once it no longer throws. */
export const eventually = <Found>(look: () => Found | Promise<Found>): Promise<Found> =>
  vi.waitFor(look, { timeout: 30_000, interval: 5 });
