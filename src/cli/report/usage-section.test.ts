import { describe, expect, it } from 'vitest';
import type { Distribution } from '../../protocol/views/statistics.ts';
import { timesSection } from './usage-section.ts';

const of = (count: number): Distribution => ({
  ...{ count, min: 1, max: 1, mean: 1, p50: 1, p90: 1, p95: 1, p99: 1, bars: [] },
});
const drawn = (memory: number, running: number): string =>
  timesSection({
    statistics: { name: '', outcomes: {}, recommended: {}, runningMs: of(running), peakBytes: of(memory) },
  })?.text ?? '';

describe('a distribution', () => {
  it('says that its scale is not even', () => {
    const bars = [
      { upTo: 10, count: 3 },
      { upTo: 100, count: 1 },
    ];
    const runningMs = { ...of(4), bars };
    expect(timesSection({ statistics: { name: '', outcomes: {}, recommended: {}, runningMs } })?.text).toContain(
      '<span>logarithmic</span>',
    );
  });
});

describe('the memory of attempts', () => {
  it('is said to be that of some where most were over before anybody looked', () => {
    expect(drawn(17, 6_000)).toContain('the peak of each attempt, known of 17');
  });

  it('is that of all where it is known of each', () => {
    expect(drawn(9, 9)).toContain('the peak of each attempt<');
  });
});
