/**
 * Which workers a controller knew, in a few numbers: order-free hashes over their instances, and how far the history of
 * its store had come. A worker repeats to the next controller what the last one told it; so a store that
 * was lost, or restored from a backup, is found out before anything is launched twice.
 */
export interface SetMark {
  /** The controller that gave it. */
  readonly scheduler: string;
  /** Of its store. */
  readonly generation: string;
  /** Changes in its history: fewer after a restore. */
  readonly version: number;
  readonly count: number;
  readonly sum: number;
  readonly xor: number;
}

export class WorkerSetHash {
  count = 0;
  sum = 0;
  xor = 0;

  add(instance: string): void {
    const hash = hashOf(instance);
    this.count += 1;
    this.sum = (this.sum + hash) >>> 0;
    this.xor = (this.xor ^ hash) >>> 0;
  }

  remove(instance: string): void {
    const hash = hashOf(instance);
    this.count -= 1;
    this.sum = (this.sum - hash) >>> 0;
    this.xor = (this.xor ^ hash) >>> 0;
  }

  isThatOf({ count, sum, xor }: Pick<SetMark, 'count' | 'sum' | 'xor'>): boolean {
    return count === this.count && sum === this.sum && xor === this.xor;
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

/** `atStart`: what the controller found in its store, before it changed anything itself. */
export interface Lineage {
  readonly scheduler: string;
  readonly generation: string;
  readonly versionAtStart: number;
}

/** Whether a worker has heard, from another controller, of what is not in this one's store. */
export const isNewer = (echo: SetMark, own: Lineage): boolean =>
  echo.scheduler !== own.scheduler && (echo.generation !== own.generation || echo.version > own.versionAtStart);
