import { expect, it } from 'vitest';
import { Slots } from './slots.ts';

const slotsOf = (count: number): Slots => {
  const slots = new Slots();
  slots.resize(count, '/d');
  return slots;
};

const takeAll = (slots: Slots): number[] => {
  const taken: number[] = [];
  while (slots.hasFree) taken.push(slots.take());
  return taken;
};

it('gives out the lowest free slot first', () => {
  const slots = slotsOf(3);
  expect(takeAll(slots)).toEqual([1, 2, 3]);
  slots.give(3);
  slots.give(1);
  expect(takeAll(slots)).toEqual([1, 3]);
});

it('gives out no more than the new number when there are fewer', () => {
  const slots = slotsOf(3);
  takeAll(slots);
  slots.resize(1, '/d');
  slots.give(3);
  slots.give(2);
  expect(takeAll(slots)).toEqual([]);
  slots.give(1);
  expect(takeAll(slots)).toEqual([1]);
});

it('never gives out a slot that is in use, though there were fewer for a while', () => {
  const slots = slotsOf(3);
  takeAll(slots);
  slots.resize(1, '/d');
  slots.resize(4, '/d');
  expect(takeAll(slots)).toEqual([4]);
  slots.give(2);
  expect(takeAll(slots)).toEqual([2]);
});

it('gives out none while more are in use than there are now, whichever those are', () => {
  const slots = slotsOf(4);
  takeAll(slots);
  slots.resize(2, '/d');
  slots.give(1);
  slots.give(2);
  expect(takeAll(slots)).toEqual([]);
  slots.give(3);
  expect(takeAll(slots)).toEqual([1]);
});

it('has other files for a slot after those before were set aside, and the same scratch directory', () => {
  const slots = slotsOf(2);
  expect(slots.furnishingOf(2).files).toEqual({ stdout: '/d/slot-2.0.out', stderr: '/d/slot-2.0.err' });
  slots.setAside(2);
  expect(slots.furnishingOf(2).files).toEqual({ stdout: '/d/slot-2.1.out', stderr: '/d/slot-2.1.err' });
  expect([slots.furnishingOf(1).files.stdout, slots.furnishingOf(2).scratch]).toEqual([
    '/d/slot-1.0.out',
    '/d/scratch-2',
  ]);
});

it('leaves all slots to others when a task is beside them, and gives no number twice', () => {
  const slots = slotsOf(2);
  expect([slots.takeBeside(), slots.takeBeside(), slots.takeBeside()]).toEqual([1, 2, 3]);
  expect(takeAll(slots)).toEqual([4, 5]);
  slots.give(2);
  expect(slots.hasFree).toBe(false);
  expect(slots.takeBeside()).toBe(2);
  slots.give(4);
  expect(takeAll(slots)).toEqual([4]);
  for (const slot of [1, 2, 3, 4, 5]) slots.give(slot);
  expect(takeAll(slots)).toEqual([1, 2]);
});
