/** The most memory that a process has had, as the kernel counts it. */
import { readFileSync } from 'node:fs';
import { pause } from '../src/sdk/pause.ts';
import type { Running } from './workshop.ts';

const pollMs = 10;

/** In MB; undefined when it is gone. */
export function peakMB(pid: number): number | undefined {
  try {
    const kB = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kB === undefined ? undefined : (Number(kB) * 1_024) / 1e6;
  } catch {
    return undefined;
  }
}

/** Of one that ends by itself: the last that was seen before its end. The peak only grows, so that misses little. */
export async function peakUntilExit({ pid, exited }: Running): Promise<number> {
  let hasExited = false;
  const onExit = (): void => {
    hasExited = true;
  };
  exited.then(onExit, onExit);
  let peak: number | undefined;
  for (; !hasExited; await pause(pollMs)) peak = peakMB(pid) ?? peak;
  if (peak === undefined) throw new Error('it ended before its memory was seen');
  return peak;
}
