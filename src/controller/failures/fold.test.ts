import { describe, expect, it } from 'vitest';
import { failureLimits } from '../../model/limits.ts';
import { foldLines, shownLine } from './fold.ts';

describe('lines that differ only in what does not matter are folded to the same', () => {
  it.each([
    ['cannot open /data/in/7.bin: No such file', 'cannot open <path>: No such file'],
    ['cannot open ./a/b.txt', 'cannot open <path>'],
    [
      "FileNotFoundError: [Errno 2] No such file or directory: '/tmp/x y'",
      "FileNotFoundError: [Errno #] No such file or directory: '<path> y'",
    ],
    ['C:\\work\\7\\x.dll is missing', '<path> is missing'],
    ['at 0x7ffd3a10 in main', 'at <hex> in main'],
    ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is gone', 'commit <hex> is gone'],
    ['job 3f2504e0-4f89-11d3-9a0c-0305e82c3301 died', 'job <uuid> died'],
    ['2026-01-31T12:00:01.123Z ERROR 5 of 7', '<time> ERROR # of #'],
    ['[12:07:44] lost', '[<time>] lost'],
    ['Jan  3 12:07:44 n7 oom', '<time> <time> n# oom'],
    ['took 1.5e-3 s, 1,024 kB', 'took # s, # kB'],
    ['GET https://h:1/a?b=7 failed', 'GET <url> failed'],
    ['\u001b[31mred\u001b[0m 7', 'red #'],
    ['10 %\r55 %\rgave up at 93 %', 'gave up at # %'],
    ['a\t  b  ', 'a b'],
    ['deadbeef is a word, facade too', 'deadbeef is a word, facade too'],
  ])('%j', (line, folded) => {
    expect(foldLines(line)).toBe(folded);
  });
});

it('only the last lines that are not blank count', () => {
  expect(foldLines('one\ntwo\n\nthree\n   \nfour\n')).toBe('two\nthree\nfour');
  expect(foldLines('\n \n')).toBe('');
  expect(foldLines('')).toBe('');
});

it('a long line is cut, and folding it takes no time to speak of', () => {
  const begin = performance.now();
  expect(foldLines('x'.repeat(1_000_000))).toBe('x'.repeat(failureLimits.lineCharactersMax));
  for (const hard of ['/', './', 'a/', '0', 'a.', '1.', '-']) foldLines(hard.repeat(500_000));
  expect(performance.now() - begin).toBeLessThan(2_000);
});

describe('a line is shown as a terminal would in the end', () => {
  it.each([
    ['\u001b[1;31merror\u001b[0m: 7 of 9 \u001b[K', 'error: 7 of 9'],
    ['10 %\r55 %\r  gave up at 93 %\r\u001b[0m', '  gave up at 93 %'],
    ['    at main (/a/b.js:7)\r', '    at main (/a/b.js:7)'],
    ['\u001b[0m', ''],
  ])('%j', (line, shown) => {
    expect(shownLine(line)).toBe(shown);
  });
});
