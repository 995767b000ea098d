/** Times as clients give them: ISO 8601, or ms since the epoch. */
import { DroverError } from '../model/errors.ts';

export function timeOf(given: string | number): number;
export function timeOf(given: string | number | undefined): number | undefined;
export function timeOf(given: string | number | undefined): number | undefined {
  if (typeof given !== 'string') return given;
  const time = Date.parse(given);
  if (Number.isSafeInteger(time) && time >= 0) return time;
  throw new DroverError('bad-input', `'${given}' is not a time`, { hint: 'for example 2026-01-31T12:00:00.000Z' });
}
