/**
 * What was done to whom and when, and so what that explains: a worker may be lost when it, or its spawner, was killed, or
 * when it was out of reach for the time after which it must die. Anything shorter must cost nothing.
 */
import { ownLoseAfterMs, presets } from '../../../src/model/timeouts.ts';
import { type Cause, type Causes, lateMs } from '../causes.ts';

export interface Trouble {
  readonly kind: string;
  /** Which worker it befell, from 0; all of them when absent. */
  readonly worker?: number;
  readonly from: number;
  to: number;
  /** Until when it may still be felt. */
  feltTo: number;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly kinds: ReadonlySet<string>;
}

const { heartbeatMs, heartbeatGraceMs } = presets.interactive;
const unheardMs = ownLoseAfterMs(presets.interactive);
/** The last heartbeat that counts may be a period older than the trouble. */
const silentMs = unheardMs + heartbeatGraceMs;
/** To a new controller a worker is not healthy from the first. */
const strangeMs = unheardMs - heartbeatMs;
const bothStopped = 'stop worker and spawner';

export class Troubles implements Causes {
  readonly all: Trouble[] = [];
  readonly #positionOf: (workerPid: number) => number | undefined;

  constructor(positionOf: (workerPid: number) => number | undefined) {
    this.#positionOf = positionOf;
  }

  /** Returns how to end it; it may be felt for a while after that. */
  begin(kind: string, worker: number | undefined): (recoveryMs: number) => void {
    const open = Number.POSITIVE_INFINITY;
    const whom = worker === undefined ? {} : { worker };
    const trouble: Trouble = { kind, ...whom, from: Date.now(), to: open, feltTo: open };
    this.all.push(trouble);
    return (recoveryMs) => {
      trouble.to = Date.now();
      trouble.feltTo = trouble.to + recoveryMs;
    };
  }

  of(worker: number): Trouble[] {
    return this.all.filter((each) => each.worker === undefined || each.worker === worker);
  }

  ofLoss(pid: number, from: number, to: number): Cause | undefined {
    const worker = this.#positionOf(pid);
    if (worker === undefined) return undefined;
    const kill = this.of(worker).find(
      (each) => each.worker === worker && each.kind.startsWith('kill') && isWithin(each, from - lateMs, to),
    );
    if (kill !== undefined) return { at: kill.from, what: kill.kind };
    const span = spansOf(this.of(worker)).find((each) => isLong(each) && each.from <= to && each.to >= from - lateMs);
    if (span === undefined) return undefined;
    return { at: span.from, what: `${((span.to - span.from) / 1_000).toFixed(1)} s of ${[...span.kinds].join(', ')}` };
  }

  /** While both are stopped nobody can kill what they run: the documented limit. */
  ofOverlap(pid: number, from: number, to: number): Cause | undefined {
    const stop = this.of(this.#positionOf(pid) ?? -1).find(
      ({ kind, from: begin, feltTo }) => kind === bothStopped && begin <= to && feltTo >= from,
    );
    return stop && { at: stop.from, what: stop.kind };
  }
}

const isWithin = (trouble: Trouble, from: number, to: number): boolean => trouble.from >= from && trouble.from <= to;

const isLong = ({ from, to, kinds }: Span): boolean =>
  to - from >= (kinds.has('kill controller') ? strangeMs : silentMs);

/** Troubles that follow each other without a pause in which the worker could be heard. */
function spansOf(troubles: readonly Trouble[]): Span[] {
  const spans: Span[] = [];
  for (const { kind, from, feltTo } of troubles.toSorted((a, b) => a.from - b.from)) {
    const last = spans.at(-1);
    if (last === undefined || last.to < from) spans.push({ from, to: feltTo, kinds: new Set([kind]) });
    else spans[spans.length - 1] = { ...last, to: Math.max(last.to, feltTo), kinds: new Set([...last.kinds, kind]) };
  }
  return spans;
}
