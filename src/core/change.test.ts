import { expect, expectTypeOf, it } from 'vitest';
import { type ChangeType, changeTypes } from '../model/change-types.ts';
import type { Change } from './change.ts';

it('every type of a change is listed once, so that filters know them, and no other is', () => {
  expectTypeOf<ChangeType>().toEqualTypeOf<Change['type']>();
  expect(new Set(changeTypes).size).toBe(changeTypes.length);
});
