import { expect, test } from 'vitest';
import { type Observation, Recommendation } from './recommendation.ts';

const recommend = (...observations: Observation[]) => {
  const recommendation = new Recommendation();
  for (const observation of observations) recommendation.add(observation);
  return recommendation.result;
};

const MB = 1_000_000;

test('nothing is recommended where nothing was measured', () => {
  expect(recommend()).toEqual({});
});

test('memory and walltime get some room above the largest of what was used, in whole megabytes and seconds', () => {
  const result = recommend(
    { wallMs: 1_000, cpuMs: 10, peakBytes: 100 * MB + 1, asked: {} },
    { wallMs: 300_500, cpuMs: 10, peakBytes: 50 * MB, asked: {} },
  );
  expect(result).toMatchObject({ memoryBytes: 121 * MB, runtimeMs: 451_000 });
});

test('what an attempt had asked for and got by with is enough', () => {
  const asked = { memoryBytes: 337_500_000, runtimeMs: 200_000 };
  expect(recommend({ wallMs: 190_000, cpuMs: 0, peakBytes: 300 * MB, asked })).toMatchObject({
    memoryBytes: 338 * MB,
    runtimeMs: 200_000,
  });
});

test('a minute is the least walltime that is recommended', () => {
  expect(recommend({ wallMs: 5, cpuMs: 1, asked: {} })).toEqual({ runtimeMs: 60_000 });
});

test('processors are recommended once there is enough to measure them by, in quarters', () => {
  expect(recommend({ wallMs: 9_000, cpuMs: 18_000, asked: {} })).not.toHaveProperty('cpus');
  expect(recommend({ wallMs: 10_000, cpuMs: 21_000, asked: {} })).toMatchObject({ cpus: 2.25 });
  expect(recommend({ wallMs: 10_000, cpuMs: 1, asked: {} })).toMatchObject({ cpus: 0.25 });
});
