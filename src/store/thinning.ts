/**
 * How many usage samples are kept: all of them up to a limit, then every second one, every fourth, and so on; and always
 * the last. It follows from the number of a sample alone, so nothing has to be remembered between two of them.
 */
import { usageSamplesMax } from '../model/limits.ts';

/** Of the samples up to that number, counted from 1, those whose number it divides are kept. */
export function strideAt(number: number): number {
  let stride = 1;
  while (number > usageSamplesMax * stride) stride *= 2;
  return stride;
}

/** What the sample of that number makes superfluous: the one before it, or all that are not on the new stride. */
export function superfluousAt(number: number): 'nothing' | 'the last' | 'off stride' {
  const stride = strideAt(number);
  if (stride !== strideAt(number - 1)) return 'off stride';
  return (number - 1) % stride === 0 ? 'nothing' : 'the last';
}
