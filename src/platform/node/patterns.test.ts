import { describe, expect, it } from 'vitest';
import { compilePattern } from './patterns.ts';

describe('an expression', () => {
  it('is found wherever it is, up to so often', () => {
    const pattern = compilePattern('a+', false);
    expect(pattern.find(['baab a', 'x', 'aXa'], 2, 1_000)).toEqual([
      [
        [1, 3],
        [5, 6],
      ],
      [],
      [
        [0, 1],
        [2, 3],
      ],
    ]);
    expect(compilePattern('A', true).find(['bab'], 9, 1_000)).toEqual([[[1, 2]]]);
    expect(compilePattern('^', false).find(['ab', ''], 9, 1_000)).toEqual([[[0, 0]], [[0, 0]]]);
  });

  it('that would take for ever is ended, and can be used again', () => {
    const pattern = compilePattern('^(a+)+$', false);
    expect(() => pattern.find([`${'a'.repeat(60)}b`], 1, 50)).toThrow(
      expect.objectContaining({ code: 'pattern-too-slow' }),
    );
    expect(pattern.find(['aaa'], 1, 1_000)).toEqual([[[0, 3]]]);
  });

  it.each(['(', '[', 'a{2,1}', '\\'])('that is none is refused: %s', (source) => {
    expect(() => compilePattern(source, false)).toThrow(expect.objectContaining({ code: 'bad-input' }));
  });
});
