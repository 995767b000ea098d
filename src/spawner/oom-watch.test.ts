import { expect, it } from 'vitest';
import { OomWatch, readOomKills } from './oom-watch.ts';

function machine(): { kills: number; readonly watch: OomWatch } {
  const state = { kills: 7, watch: undefined as unknown as OomWatch };
  state.watch = new OomWatch(() => state.kills);
  return state;
}

it('blames the machine for a KILL when its count has risen, and soon after', () => {
  const { watch, ...rest } = machine();
  expect([watch.hasKilled(1_000), rest.kills]).toEqual([false, 7]);
  const other = machine();
  other.kills++;
  expect([1_000, 2_900, 3_100].map((now) => other.watch.hasKilled(now))).toEqual([true, true, false]);
});

it('remembers for a moment that the count rose when it was looked at in between', () => {
  const here = machine();
  here.kills++;
  here.watch.look(1_000);
  expect(here.watch.hasKilled(1_100)).toBe(true);
  here.watch.look(5_000);
  expect(here.watch.hasKilled(5_100)).toBe(false);
});

it.each([
  ['before it was seen', false],
  ['after it was seen', true],
])('does not blame the machine for kills in the cgroup of a task that are known %s', (_, isSeen) => {
  const here = machine();
  here.kills += 2;
  if (isSeen) here.watch.look(900);
  here.watch.disown(2);
  expect(here.watch.hasKilled(1_000)).toBe(false);
  here.kills++;
  expect(here.watch.hasKilled(1_100)).toBe(true);
});

it('blames nobody where the kernel does not count', () => {
  const watch = new OomWatch(() => undefined);
  watch.disown(1);
  expect(watch.hasKilled(1_000)).toBe(false);
});

it.runIf(process.platform === 'linux')('reads the count of this machine', () => {
  expect(readOomKills()).toEqual(expect.any(Number));
});
