import { expect, it } from 'vitest';
import { descriptorLimit, slotsNote, slotsWithin } from './descriptors.ts';

it('gives as many slots as there are descriptors for, and says what to raise', () => {
  expect(slotsWithin(200, 20_000)).toBe(200);
  expect(slotsNote(200, 20_000)).toBeUndefined();
  expect(slotsWithin(200, 256)).toBe(96);
  expect(slotsNote(200, 256)).toBe(
    "96 slots instead of 200: only 256 files may be open here; 'ulimit -n 464' allows them all",
  );
  expect(slotsWithin(200, 464)).toBe(200);
  expect(slotsWithin(8, 10)).toBe(1);
  expect(descriptorLimit()).toBeGreaterThan(0);
});
