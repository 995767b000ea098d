import { expect, test } from 'vitest';
import { type Asked, Recommendation } from './recommendation.ts';

type Used = readonly [wallMs: number, cpuMs: number, peakBytes: number | undefined, asked?: Asked];

function of(...used: Used[]): Recommendation {
  const recommendation = new Recommendation();
  for (const [wallMs, cpuMs, peakBytes, asked = {}] of used) recommendation.add(wallMs, cpuMs, peakBytes, asked);
  return recommendation;
}

const recommend = (...used: Used[]) => of(...used).result;

const MB = 1_000_000;

test('nothing is recommended where nothing was measured', () => {
  expect(recommend()).toEqual({});
});

test('memory and walltime get some room above the largest of what was used, in whole megabytes and seconds', () => {
  const result = recommend([1_000, 10, 100 * MB + 1], [300_500, 10, 50 * MB]);
  expect(result).toMatchObject({ memoryBytes: 121 * MB, runtimeMs: 451_000 });
});

test('what is a whole number is not rounded beyond it by an error of arithmetic', () => {
  for (let mb = 5; mb <= 5_000; mb += 5) expect(recommend([10, 1, mb * MB]).memoryBytes).toBe(mb * 1.2 * MB);
});

test('what an attempt had asked for and got by with is enough', () => {
  const asked = { memoryBytes: 337_500_000, runtimeMs: 200_000 };
  expect(recommend([190_000, 0, 300 * MB, asked])).toMatchObject({ memoryBytes: 338 * MB, runtimeMs: 200_000 });
});

test('a minute is the least walltime that is recommended', () => {
  expect(recommend([5, 1, undefined])).toEqual({ runtimeMs: 60_000 });
});

test('processors are recommended once there is enough to measure them by, in quarters', () => {
  expect(recommend([9_000, 18_000, undefined])).not.toHaveProperty('cpus');
  expect(recommend([10_000, 21_000, undefined])).toMatchObject({ cpus: 2.25 });
  expect(recommend([10_000, 1, undefined])).toMatchObject({ cpus: 0.25 });
});

test('added up it is the same as of all in one', () => {
  const [one, other]: [Used, Used] = [
    [9_000, 9_000, 10 * MB],
    [8_000, 24_000, 5 * MB],
  ];
  const sum = of(one);
  sum.addAll(of(other));
  expect(sum.result).toEqual(recommend(one, other));
});
