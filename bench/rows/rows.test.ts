import { describe, expect, it } from 'vitest';
import { rateBetween } from './e.ts';
import { draws, edgesOf } from './g.ts';
import { rows } from './rows.ts';

describe('every row', () => {
  const made = Object.entries(rows).map(([letter, make]) => ({ letter, row: make({ n: 400, million: 5_000 }) }));

  it('has its own letter', () => {
    for (const { letter, row } of made) expect(row.letter).toBe(letter);
  });

  it('compares only who has a turn in it, and each of them once', () => {
    for (const { row } of made) {
      const names = row.contenders.map(({ name }) => name);
      expect(new Set(names).size).toBe(names.length);
      const compared = row.comparisons.flatMap(({ value, against }) => [value, ...(against ? [against] : [])]);
      for (const { contender } of compared) expect(names).toContain(contender);
      for (const name of names) expect(compared.map(({ contender }) => contender)).toContain(name);
    }
  });
});

it('the rate between two stamps leaves out what came before the first', () => {
  const stamps = [
    { started: 1, at: 0, monotonicMs: 0 },
    { started: 1_000, at: 5_000, monotonicMs: 5_000 },
    { started: 3_000, at: 5_500, monotonicMs: 5_500 },
  ];
  expect(rateBetween(stamps, 1_000, 3_000)).toBe(4_000);
  expect(() => rateBetween(stamps, 1_000, 4_000)).toThrow('no stamp of start 4000');
});

it('the graph has ten single edges for each task, all from earlier ones, and is always the same', () => {
  const edges = edgesOf(9_000, draws(1));
  expect(edges).toHaveLength(10);
  for (const { parents, children } of edges) {
    expect(parents[0]).toBe(parents[1]);
    expect(parents[0]).toBeLessThan(9_000);
    expect(parents[0]).toBeGreaterThan(0);
    expect(children).toEqual([9_000, 9_000]);
  }
  expect(new Set(edges.map(({ parents }) => parents[0])).size).toBe(10);
  expect(edgesOf(9_000, draws(1))).toEqual(edges);
  expect(edgesOf(4_000, draws(1))).toEqual([]);
});
