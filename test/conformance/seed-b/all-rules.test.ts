import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const rules = 44;

/** The titles of all tests beside this one. */
function titles(): string[] {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((name) => {
    const text = readFileSync(join(import.meta.dirname, name), 'utf8');
    return [...text.matchAll(/\bit(?:\.each\([\s\S]*?\))?\(\s*'([^']+)'/g)].map(([, title]) => title ?? '');
  });
}

describe('the tests of seed B', () => {
  it('name every rule', () => {
    const named = new Set(
      titles().flatMap((title) => [...title.matchAll(/\bB(\d+)\b/g)].map(([, rule]) => Number(rule))),
    );
    const all = Array.from({ length: rules }, (_, at) => at + 1);
    expect(all.filter((rule) => !named.has(rule))).toEqual([]);
  });
});
