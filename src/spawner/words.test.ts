import { describe, expect, it } from 'vitest';
import { isBuiltin, plainWords } from './words.ts';

describe('plainWords', () => {
  it('splits a line of plain words at blanks', () => {
    expect(plainWords('  /usr/bin/tool  -a --level=3\tfile.txt ')).toEqual([
      '/usr/bin/tool',
      '-a',
      '--level=3',
      'file.txt',
    ]);
  });

  it.each([
    '',
    '   ',
    'a; b',
    'a && b',
    'a | b',
    'a > b',
    'a $B',
    'a `b`',
    'a "b"',
    "a 'b'",
    'a \\b',
    'a *',
    'a ?',
    'a [b]',
    'a {b,c}',
    'a ~',
    'a # b',
    'a !b',
    'a &',
    'a\nb',
    'a (b)',
    'a ä',
    'a \u00a0b',
    'a ^b',
  ])('leaves %j to the shell', (line) => {
    expect(plainWords(line)).toBeUndefined();
  });

  it.each(['A=1', 'A=1 tool', 'a+=b', '%1'])('leaves the assignment or job %j to the shell', (line) => {
    expect(plainWords(line)).toBeUndefined();
  });

  it.each([
    'cd /',
    'exit 3',
    '. x',
    ': x',
    'time tool',
    'exec tool',
    'kill 1',
    'printf x',
    'pwd',
    'test -f x',
    'if',
    'wait',
    'env',
    'printenv A',
  ])('leaves %j, whose first word means something to the shell, to the shell', (line) => {
    expect(plainWords(line)).toBeUndefined();
  });

  it('takes built-ins only where their program is known to agree', () => {
    expect(plainWords('true')).toEqual(['true']);
    expect(plainWords('true --help')).toBeUndefined();
    expect(plainWords('false')).toEqual(['false']);
    expect(plainWords('echo a b')).toEqual(['echo', 'a', 'b']);
    expect(plainWords('echo -n a')).toBeUndefined();
    expect(plainWords('echo --version')).toBeUndefined();
  });

  it('tells the built-ins among what it takes from programs, since those are not looked up in PATH', () => {
    expect(['true', 'false', 'echo'].every(isBuiltin)).toBe(true);
    expect(['sleep', '/bin/true', './echo'].some(isBuiltin)).toBe(false);
  });
});
