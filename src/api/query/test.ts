/** A clause of a filter as a test of a value. What has no such value passes only where it is to be another. */
import type { Clause } from '../../protocol/filter/language.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';

export type Test = (value: FilterValue | undefined) => boolean;

export function testOf({ operator, values }: Clause): Test {
  const [first] = values as [FilterValue];
  const wanted = new Set(values);
  switch (operator) {
    case '=':
      return wanted.size === 1 ? (value) => value === first : (value) => value !== undefined && wanted.has(value);
    case '!=':
      return (value) => value === undefined || !wanted.has(value);
    case '<':
      return (value) => value !== undefined && value < first;
    case '<=':
      return (value) => value !== undefined && value <= first;
    case '>':
      return (value) => value !== undefined && value > first;
    case '>=':
      return (value) => value !== undefined && value >= first;
    case '~':
      return (value) => typeof value === 'string' && values.some((part) => value.includes(String(part)));
  }
}
