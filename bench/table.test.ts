import { expect, it } from 'vitest';
import type { Comparison } from './row.ts';
import { renderRemarks, renderTable, showNumber, showRatio, showTarget } from './table.ts';

const comparison: Comparison = {
  work: '/bin/true',
  value: { contender: 'drover', figure: 'rate' },
  unit: 'tasks/s',
  against: { contender: 'peer', figure: 'rate' },
  target: { least: 1.3 },
};

it('a line has the values, the ratio, the target and whether it is met', () => {
  const result = { letter: 'a', comparison, value: 1_812.4, against: 1_000, ratio: 1.8124, isMet: true };
  const lines = renderTable([result], { 'a/peer': 'N = 400', 'b/peer': 'of another row' }).split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[2]?.split('|').map((cell) => cell.trim())).toEqual([
    ...['', 'a', '/bin/true', '1,812 tasks/s', 'peer (N = 400)', '1,000 tasks/s', '1.81', '≥ 1.3', 'met', ''],
  ]);
  expect(new Set(lines.map((line) => line.length)).size).toBe(1);
});

it('what was not measured is a dash, and the reason is below the table', () => {
  const result = { letter: 'a', comparison, value: 1_000, why: 'peer failed' };
  expect(renderTable([result], {})).toMatch(/1,000 tasks\/s \| peer +\| – +\| – +\| ≥ 1.3 +\| not measured/);
  const turns = [{ contender: 'peer', round: 2, tookSeconds: 1, failure: 'no\nspace' }];
  expect(renderRemarks([result, result], [{ letter: 'a', turns, absent: [] }])).toBe(
    '- row a: peer failed\n- row a: peer failed in round 2: no space',
  );
});

it('a missed target stands out', () => {
  const result = { letter: 'a', comparison, value: 1, against: 1, ratio: 1, isMet: false };
  expect(renderTable([result], {})).toContain('MISSED');
});

it('a bar in a line does not break the table', () => {
  const result = { letter: 'a', comparison: { ...comparison, work: 'a | b' }, value: 1 };
  expect(renderTable([result], {})).toContain('a \\| b');
});

it('numbers have the digits that mean something', () => {
  expect([0, 0.01234, 0.5, 8.123, 45.678, 123.4, 1_234_567.8].map(showNumber)).toEqual([
    ...['0', '0.012', '0.5', '8.12', '45.7', '123', '1,234,568'],
  ]);
  expect([0.854, 2, 150.3].map(showRatio)).toEqual(['0.85', '2.00', '150']);
  expect(showTarget({ most: 700 }, 'MB')).toBe('≤ 700 MB');
  expect(showTarget({ least: 0.8 }, undefined)).toBe('≥ 0.8');
});
