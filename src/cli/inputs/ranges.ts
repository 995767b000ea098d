/** `--array 1-100`, `1-10:2`, `1,3,5-7`: numbers in the order given, kept as ranges however many they are. */
import { DroverError } from '../../model/errors.ts';
import { workflowTasksMax } from '../../model/limits.ts';

interface Range {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

const rangePattern = /^(\d{1,10})(?:-(\d{1,10})(?::(\d{1,10}))?)?$/;

export function parseArray(text: string): Iterable<number> {
  const ranges = text.split(',').map((part) => parseRange(part.trim(), text));
  const count = ranges.reduce((sum, { from, to, step }) => sum + Math.floor((to - from) / step) + 1, 0);
  if (count > workflowTasksMax)
    throw new DroverError('too-large', `--array ${text}: more than ${workflowTasksMax} tasks`);
  return { [Symbol.iterator]: () => numbersOf(ranges) };
}

function parseRange(part: string, text: string): Range {
  const match = rangePattern.exec(part);
  const from = Number(match?.[1]);
  const range = { from, to: Number(match?.[2] ?? from), step: Number(match?.[3] ?? 1) };
  if (match !== null && range.from <= range.to && range.step > 0) return range;
  throw new DroverError('bad-input', `--array ${text}: '${part}' is not a range`, {
    hint: 'write 1-100, or 1-10:2 for every second one, or 1,3,5-7',
  });
}

function* numbersOf(ranges: readonly Range[]): Generator<number, void> {
  for (const { from, to, step } of ranges) {
    for (let number = from; number <= to; number += step) yield number;
  }
}
