import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { layOutLanes } from './lanes.ts';

const span = (startMs: number, endMs: number, worker = 'k1') => ({ worker, startMs, endMs });

describe('lanes', () => {
  it('have no two attempts at the same time, and no more of them than ran at a time', () => {
    const some = fc.array(fc.tuple(fc.nat(200), fc.nat(50), fc.constantFrom('k1', 'k2', 'k10')), { maxLength: 60 });
    fc.assert(
      fc.property(some, (rows) => {
        const spans = rows.map(([start, ms, worker]) => span(start, start + ms + 1, worker));
        const { lanes, spans: laid } = layOutLanes(spans, () => Number.POSITIVE_INFINITY);
        expect(laid).toHaveLength(spans.length);
        for (const [at, a] of laid.entries()) {
          expect(lanes[a.lane]?.worker).toBe(a.span.worker);
          for (const b of laid.slice(at + 1)) {
            if (a.lane === b.lane) expect(b.span.startMs).toBeGreaterThanOrEqual(a.span.endMs);
          }
        }
        for (const worker of ['k1', 'k2', 'k10']) {
          const own = spans.filter((one) => one.worker === worker);
          const running = own.map((one) => own.filter((o) => o.startMs <= one.startMs && o.endMs > one.startMs).length);
          expect(lanes.filter((lane) => lane.worker === worker)).toHaveLength(Math.max(0, ...running));
        }
      }),
      madeUp(),
    );
  });

  it('are as many as slots where an end is measured a moment after the next start', () => {
    const spans = [span(0, 100), span(0, 103), span(98, 200), span(101, 300)];
    const { lanes, spans: laid } = layOutLanes(spans, () => 2);
    expect(lanes).toEqual([
      { worker: 'k1', slot: 1 },
      { worker: 'k1', slot: 2 },
    ]);
    expect(laid.map(({ lane }) => lane)).toEqual([0, 1, 0, 1]);
  });

  it('are more than slots where more ran', () => {
    expect(layOutLanes([span(0, 100), span(10, 100), span(20, 100)], () => 2).lanes).toHaveLength(3);
  });

  it('are ordered by worker, by number', () => {
    const { lanes } = layOutLanes([span(0, 1, 'k10'), span(5, 6, 'k2')], () => 1);
    expect(lanes.map(({ worker }) => worker)).toEqual(['k2', 'k10']);
  });
});
