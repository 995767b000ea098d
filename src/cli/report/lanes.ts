/** Which row of the timeline each attempt is drawn in: none overlaps another of its row. */

export interface Span {
  readonly worker: string;
  readonly startMs: number;
  readonly endMs: number;
}

export interface Lane {
  readonly worker: string;
  /** Counted from 1 within the worker. Not the slot that it had, but as many as were busy at a time. */
  readonly slot: number;
}

export interface Laid<S extends Span> {
  readonly lanes: readonly Lane[];
  /** Ordered by start; `lane` is an index. */
  readonly spans: readonly { readonly span: S; readonly lane: number }[];
}

/** Workers in the order of their ids, as `k2` before `k10`. */
export const byWorker = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

/** When the next attempt of a slot starts, the end of the one before may not have been measured yet. */
const slackMs = 10;

/**
 * Each goes to the first row of its worker that is free when it starts. Where there is a row for each slot already, one that is
 * about to be free will do.
 */
export function layOutLanes<S extends Span>(spans: readonly S[], slotsOf: (worker: string) => number): Laid<S> {
  const sorted = spans.toSorted((a, b) => a.startMs - b.startMs || a.endMs - b.endMs);
  const ends = new Map<string, number[]>();
  const slots = sorted.map((span) => {
    const own = ends.get(span.worker) ?? [];
    ends.set(span.worker, own);
    const slot = freeRow(own, span.startMs, slotsOf(span.worker));
    own[slot] = span.endMs;
    return slot;
  });
  const lanes: Lane[] = [];
  const firstOf = new Map<string, number>();
  for (const worker of [...ends.keys()].sort(byWorker)) {
    firstOf.set(worker, lanes.length);
    for (let slot = 1; slot <= (ends.get(worker)?.length ?? 0); slot++) lanes.push({ worker, slot });
  }
  return {
    lanes,
    spans: sorted.map((span, at) => ({ span, lane: (firstOf.get(span.worker) ?? 0) + (slots[at] ?? 0) })),
  };
}

function freeRow(ends: readonly number[], startMs: number, slots: number): number {
  const free = ends.findIndex((endMs) => endMs <= startMs);
  if (free >= 0) return free;
  const soonest = ends.reduce((best, endMs, at) => (endMs < (ends[best] ?? endMs) ? at : best), 0);
  const isSoon = (ends[soonest] ?? Number.POSITIVE_INFINITY) <= startMs + slackMs;
  return ends.length >= slots && isSoon ? soonest : ends.length;
}
