import { expect, it } from 'vitest';
import { Slots } from './slots.ts';

const takeAll = (slots: Slots): number[] => {
  const taken: number[] = [];
  while (slots.hasFree) taken.push(slots.take());
  return taken;
};

it('gives out the lowest free slot first', () => {
  const slots = new Slots(3, '/d');
  expect(takeAll(slots)).toEqual([1, 2, 3]);
  slots.give(3);
  slots.give(1);
  expect(takeAll(slots)).toEqual([1, 3]);
});

it('gives out no more than the new number when there are fewer', () => {
  const slots = new Slots(3, '/d');
  takeAll(slots);
  slots.resize(1);
  slots.give(3);
  slots.give(2);
  expect(takeAll(slots)).toEqual([]);
  slots.give(1);
  expect(takeAll(slots)).toEqual([1]);
});

it('never gives out a slot that is in use, though there were fewer for a while', () => {
  const slots = new Slots(3, '/d');
  takeAll(slots);
  slots.resize(1);
  slots.resize(4);
  expect(takeAll(slots)).toEqual([4]);
  slots.give(2);
  expect(takeAll(slots)).toEqual([2]);
});

it('gives out none while more are in use than there are now, whichever those are', () => {
  const slots = new Slots(4, '/d');
  takeAll(slots);
  slots.resize(2);
  slots.give(1);
  slots.give(2);
  expect(takeAll(slots)).toEqual([]);
  slots.give(3);
  expect(takeAll(slots)).toEqual([1]);
});
