import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const rules = 74;
const pairs = 20;

/** The titles of all tests beside this one. */
function titles(): string[] {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    return [...text.matchAll(/\bit(?:\.each\([\s\S]*?\))?\(\s*'([^']+)'/g)].map(([, title]) => title ?? '');
  });
}

const numbersOf = (pattern: RegExp): Set<number> =>
  new Set(titles().flatMap((title) => [...title.matchAll(pattern)].map(([, number]) => Number(number))));

const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

describe('the tests of seed E', () => {
  it('name every rule', () => {
    const named = numbersOf(/\bE(\d+)\b/g);
    expect(upTo(rules).filter((rule) => !named.has(rule))).toEqual([]);
  });

  it('E32: (note) cover the order of different calls by ten pairs, each seen from both sides', () => {
    const named = numbersOf(/^pair (\d+),/g);
    expect(upTo(pairs).filter((pair) => !named.has(pair))).toEqual([]);
  });
});
