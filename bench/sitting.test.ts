import { describe, expect, it } from 'vitest';
import type { Comparison, Contender, Row } from './row.ts';
import { judge, median, type Sitting, sit, type Turn } from './sitting.ts';

const comparison: Comparison = {
  work: 'work',
  value: { contender: 'drover', figure: 'rate' },
  unit: 'tasks/s',
  against: { contender: 'peer', figure: 'rate' },
  target: { least: 2 },
};

const nobody: Contender['measure'] = () => Promise.reject(new Error('measured by the test'));
const silent = { onTurn: () => {}, onAbsence: () => {} };

function rowOf(...contenders: Contender[]): Row {
  return { letter: 'x', contenders, comparisons: [] };
}

function sittingOf(...rates: [contender: string, round: number, rate: number | string][]): Sitting {
  const turns = rates.map(([contender, round, rate]): Turn => {
    const common = { contender, round, tookSeconds: 1 };
    return typeof rate === 'number' ? { ...common, figures: { rate } } : { ...common, failure: rate };
  });
  return { letter: 'x', turns, absent: [] };
}

describe('median', () => {
  it('is the middle one, whatever the order', () => expect(median([9, 1, 4])).toBe(4));
  it('is between the two middle ones', () => expect(median([4, 1, 9, 2])).toBe(3));
  it('is that of one', () => expect(median([7])).toBe(7));
  it('is none without values', () => expect(median([])).toBeUndefined());
  it('compares as numbers', () => expect(median([100, 20, 3])).toBe(20));
});

describe('a sitting', () => {
  it('takes turns: A B C A B C', async () => {
    const order: string[] = [];
    const contenders = ['a', 'b', 'c'].map((name) => ({ name, measure: nobody }));
    const measure = async ({ name }: Contender) => {
      order.push(name);
      return { rate: order.length };
    };
    const { turns } = await sit(rowOf(...contenders), 2, measure, silent);
    expect(order.join('')).toBe('abcabc');
    expect(turns.map(({ round }) => round)).toEqual([1, 1, 1, 2, 2, 2]);
  });

  it('leaves out who is missing, and says why', async () => {
    const missing = { name: 'b', measure: nobody, missing: () => 'not installed: apt-get install b' };
    const told: string[] = [];
    const sitting = await sit(rowOf({ name: 'a', measure: nobody }, missing), 1, async () => ({ rate: 1 }), {
      ...silent,
      onAbsence: ({ why }) => told.push(why),
    });
    expect(sitting.absent).toEqual([{ contender: 'b', why: 'not installed: apt-get install b' }]);
    expect(told).toEqual(['not installed: apt-get install b']);
    expect(sitting.turns.map(({ contender }) => contender)).toEqual(['a']);
  });

  it('goes on after a turn that fails, and keeps its message', async () => {
    const measure = ({ name }: Contender) =>
      name === 'a' ? Promise.reject(new Error('it crashed')) : Promise.resolve({ rate: 1 });
    const row = rowOf({ name: 'a', measure: nobody }, { name: 'b', measure: nobody });
    const { turns } = await sit(row, 2, measure, silent);
    expect(turns.map((turn) => ('failure' in turn ? turn.failure : 'fine'))).toEqual([
      ...['it crashed', 'fine'],
      ...['it crashed', 'fine'],
    ]);
  });
});

describe('a comparison', () => {
  it('has medians, and the median of the ratios of each round', () => {
    const sitting = sittingOf(
      ...([
        ['drover', 1, 10],
        ['peer', 1, 4],
        ['drover', 2, 100],
        ['peer', 2, 50],
        ['drover', 3, 12],
        ['peer', 3, 4],
      ] as [string, number, number][]),
    );
    expect(judge(sitting, comparison)).toMatchObject({ value: 12, against: 4, ratio: 2.5, isMet: true });
  });

  it('takes only rounds that both have figures of', () => {
    const sitting = sittingOf(['drover', 1, 10], ['peer', 1, 'crashed'], ['drover', 2, 10], ['peer', 2, 10]);
    expect(judge(sitting, comparison)).toMatchObject({ ratio: 1, isMet: false });
  });

  it('has no figure and no verdict for what was not measured', () => {
    const judged = judge(sittingOf(['drover', 1, 10], ['peer', 1, 'crashed']), comparison);
    expect(judged).toEqual({ letter: 'x', comparison, value: 10, why: 'peer failed' });
    const absent = [{ contender: 'peer', why: 'not installed' }];
    expect(judge({ ...sittingOf(['drover', 1, 10]), absent }, comparison).why).toBe('peer: not installed');
  });

  it('without another one is judged by its value', () => {
    const { against: _, ...alone } = { ...comparison, target: { most: 8 } };
    expect(judge(sittingOf(['drover', 1, 8]), alone)).toMatchObject({ value: 8, isMet: true });
    expect(judge(sittingOf(['drover', 1, 8.1]), alone)).toMatchObject({ value: 8.1, isMet: false });
  });

  it('without a target has no verdict', () => {
    const { target: _, ...plain } = comparison;
    expect(judge(sittingOf(['drover', 1, 8], ['peer', 1, 2]), plain)).not.toHaveProperty('isMet');
  });
});
