import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TaskSample } from '../protocol/spawner.ts';
import { Driver, until } from './driver.testing.ts';

const megabyte = 1024 * 1024;
let driver: Driver;
beforeAll(() => {
  driver = new Driver();
});
afterAll(() => driver.close());

const samplesOf = (key: number): TaskSample[] =>
  driver.messages.flatMap((message) => (message.t === 'usage' ? message.samples.filter(([of]) => of === key) : []));

describe('samples of a task', () => {
  it.concurrent.each([
    ['without a limit of memory', {}],
    ['with one', { memoryBytes: 300 * megabyte }],
  ])('are told before its end, and of all its time: %s', async (_, limit) => {
    const key = driver.start('sleep 3.6; true', limit);
    const { at, wallMs, cpuMs } = await driver.ended(key);
    const samples = samplesOf(key);
    const last = driver.messages.findLastIndex((one) => one.t === 'usage' && one.samples.some(([of]) => of === key));
    expect(last).toBeLessThan(driver.messages.findIndex((one) => one.t === 'ended' && one.key === key));
    for (const metric of ['memory', 'cpu']) {
      const times = samples.flatMap(([, of, time]) => (of === metric ? [time] : []));
      expect(times.length).toBeGreaterThanOrEqual(2);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(times[0]).toBeGreaterThanOrEqual(at);
      expect(times.at(-1)).toBeGreaterThanOrEqual(at + wallMs - 5);
    }
    let [used, before] = [0, at];
    for (const [, metric, time, value] of samples) {
      if (metric !== 'cpu') continue;
      used += value * (time - before);
      before = time;
    }
    expect(Math.abs(used - cpuMs)).toBeLessThan(20);
  });

  it.concurrent('are none if it is over soon', async () => {
    const key = driver.start('sleep 1.3');
    await driver.ended(key);
    expect(samplesOf(key)).toEqual([]);
  });
});

describe('a task', () => {
  it('has used what its daemons used', async () => {
    const burn = `perl -e "my \\$n = 0; while ((times)[0] < 0.4) { \\$n += \\$_ for 1..10_000 }; open F, '>', 'burnt'"`;
    const end = await driver.run(`setsid -f ${burn}; until [ -e burnt ]; do sleep 0.05; done; sleep 0.2`);
    expect(end.exit).toBe(0);
    expect(end.cpuMs).toBeGreaterThanOrEqual(400);
  });

  it('leaves no descriptor behind, however often it was looked at', async () => {
    const open = (): number => readdirSync(`/proc/${driver.process.pid}/fd`).length;
    const files = {
      stdout: { path: driver.path('out'), mode: 'reuse' },
      stderr: { path: driver.path('err'), mode: 'reuse' },
    } as const;
    await driver.run('sleep 0.2; true', files);
    const before = open();
    await Promise.all(Array.from({ length: 10 }, () => driver.run('sleep 0.3 & sleep 0.2; (sleep 0.1; true)', files)));
    await until(() => open() <= before, `${before} descriptors`);
  });
});
