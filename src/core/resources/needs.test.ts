import { expect, test } from 'vitest';
import { plainNeed } from '../../model/need.ts';
import { Needs, plain } from './needs.ts';

test('needs that mean the same have one number, in whatever order they are written', () => {
  const needs = new Needs();
  const pools = { scratch: 2, disk: 1 };
  const number = needs.number({ queue: 'big', cpus: 2, pools, groups: ['template:a', 'tag:x=1'] });
  const again = needs.number({
    groups: ['tag:x=1', 'template:a'],
    pools: { disk: 1, scratch: 2 },
    cpus: 2,
    queue: 'big',
  });
  expect(again).toBe(number);
  expect(needs.get(number)).toMatchObject({ queue: 'big', pools });
});

test('needs that differ in anything have numbers of their own', () => {
  const needs = new Needs();
  const different = [
    plainNeed,
    { ...plainNeed, cpus: 0.5 },
    { ...plainNeed, memoryBytes: 1 },
    { ...plainNeed, runtimeMs: 1 },
    { ...plainNeed, gpus: 1 },
    { ...plainNeed, pools: { a: 1 } },
    { ...plainNeed, limits: { a: 1 } },
    { ...plainNeed, groups: ['a'] },
    { ...plainNeed, fallbacks: ['a'] },
    { ...plainNeed, scales: { memory: 2 } },
    { ...plainNeed, scales: { runtime: 2 } },
    { ...plainNeed, queue: 'a' },
  ].map((need) => needs.number(need));
  expect(new Set(different).size).toBe(different.length);
  expect(different[0]).toBe(plain);
});
