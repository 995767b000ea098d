import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { quote, typeable } from './quoting.ts';

const texts = fc.array(
  fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\0')),
  {
    minLength: 1,
    maxLength: 50,
  },
);
/** What a shell takes the words for. */
const readBy = (shell: string, words: readonly string[]): string[] =>
  execFileSync(shell, ['-c', `printf '%s\\0' ${words.join(' ')}`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
const wellFormed = (text: string): string => Buffer.from(text).toString();

it.each([
  ['quoted', 'sh', quote],
  ['typeable', 'bash', typeable],
] as const)('a %s word is itself to %s, whatever it has', (_, shell, make) => {
  fc.assert(
    fc.property(texts, (given) => {
      const values = given.map(wellFormed);
      expect(readBy(shell, values.map(make))).toEqual(values);
    }),
    madeUp(50),
  );
});

it('a typeable word has nothing that moves the cursor', () => {
  expect(typeable("n1\u001b[2J'\n\\")).toBe("$'n1\\x1b[2J\\'\\x0a\\\\'");
  expect(['n1.example:80', 'a=b', '=b', 'a b'].map(typeable)).toEqual(['n1.example:80', 'a=b', "'=b'", "'a b'"]);
});
