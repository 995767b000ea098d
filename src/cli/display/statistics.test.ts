import { describe, expect, it } from 'vitest';
import type { Distribution, StatisticsGroup, StatisticsView } from '../../protocol/views/statistics.ts';
import { renderStatistics } from './statistics.ts';

const plain = { columns: undefined, isUnicode: false, by: undefined };

function running(...bars: Distribution['bars']): Distribution {
  const count = bars.reduce((sum, bar) => sum + bar.count, 0);
  return { count, min: 1, max: 9, mean: 5, p50: 5, p90: 8, p95: 8, p99: 9, bars };
}

const view = (facts: Partial<StatisticsView>): StatisticsView => ({
  ...{ isPartial: false, states: {}, outcomes: {}, recommended: {} },
  ...facts,
});

describe('how attempts ended', () => {
  it('is told in words that say it', () => {
    const outcomes = { succeeded: 1, exited: 2, signalled: 3, resource: 4, lost: 5, 'never-started': 6, cancelled: 7 };
    expect(renderStatistics(view({ outcomes }), plain)).toContain(
      'attempts  1 succeeded, 2 exited with an error, 3 ended by a signal, 4 out of memory or time, 5 lost, ' +
        '6 never started, 7 cancelled\n',
    );
  });
});

describe('bars of how long attempts ran', () => {
  const drawn = (distribution: Distribution, columns?: number): string[] => {
    const text = renderStatistics(view({ runningMs: distribution }), { ...plain, columns });
    return text.split('\n').filter((line) => line.includes('up to'));
  };

  it('that would be called the same are one', () => {
    const bars = running({ upTo: 1_002, count: 1 }, { upTo: 1_020, count: 2 }, { upTo: 2_000, count: 6 });
    expect(drawn(bars)).toEqual([
      `up to 1.0 s         3  ${'#'.repeat(20)}`,
      `up to 2.0 s         6  ${'#'.repeat(40)}`,
    ]);
  });

  it('are ten at most, with every attempt in one of them', () => {
    const all = Array.from({ length: 21 }, (_, at) => ({ upTo: 2 ** at, count: 1 }));
    const lines = drawn(running(...all));
    expect(lines.length).toBe(7);
    expect(lines.map((line) => Number(/(\d+) +#/.exec(line)?.[1]))).toEqual(lines.map(() => 3));
  });

  it('are as long as a terminal is wide', () => {
    const bars = running({ upTo: 10, count: 1 }, { upTo: 100, count: 5 });
    expect(Math.max(...drawn(bars, 50).map((line) => line.length))).toBe(50);
    expect(Math.max(...drawn(bars, 200).map((line) => line.length))).toBe(64);
  });
});

describe('groups', () => {
  const group = (name: string, facts: Partial<StatisticsGroup>): StatisticsGroup => ({
    ...{ name, outcomes: {}, recommended: {} },
    ...facts,
  });
  const table = (...groups: StatisticsGroup[]): string[] =>
    renderStatistics(view({ groups }), { ...plain, by: 'template' })
      .trimEnd()
      .split('\n')
      .slice(2);

  it('tell what has ended, failed and is left, and what to ask for', () => {
    const recommended = { memoryBytes: 3_000_000, cpus: 0.25, runtimeMs: 60_000 };
    const fit = group('fit', {
      ...{ outcomes: { succeeded: 3, exited: 1 }, states: { waiting: 1, queued: 2, done: 3, failed: 1 }, recommended },
    });
    expect(table(fit, group('', { outcomes: { succeeded: 1 }, recommended: { cpus: 1 } }))).toEqual([
      'TEMPLATE  ENDED  FAILED  LEFT  RECOMMENDED',
      'fit           4       1     3  3MB, 0.25 cpus, 1m',
      '-             1                1 cpu',
    ]);
  });

  it('leave out columns that none of them has anything in', () => {
    expect(table(group('fit', { outcomes: { succeeded: 3 } }))).toEqual(['TEMPLATE  ENDED', 'fit           3']);
    expect(table()).toEqual([]);
  });
});
