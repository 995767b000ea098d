import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import {
  parseBytes,
  parseDurationMs,
  printBytes,
  printDurationMs,
  showBytes,
  showCount,
  showDuration,
  showRate,
} from './units.ts';

describe('durations', () => {
  it.each([
    ['90s', 90_000],
    ['2h30m', 9_000_000],
    ['1.5h', 5_400_000],
    ['250ms', 250],
    ['90', 90_000],
    ['0.5', 500],
    ['0', 0],
    ['1d', 86_400_000],
    ['1m 23s', 83_000],
    [' 2.3 s ', 2_300],
  ])('reads %j', (text, ms) => expect(parseDurationMs(text)).toBe(ms));

  it.each(['', ' ', 'x', '-1', '1x', '30m2h', '1h1h', '1e3', '.5', '5.', 'm', '1h 30', '99999999999d', 'Infinity'])(
    'refuses %j',
    (text) => expect(parseDurationMs(text)).toBeUndefined(),
  );

  it('prints what it reads back', () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (ms) => {
        expect(parseDurationMs(printDurationMs(ms))).toBe(ms);
      }),
      madeUp(),
    );
    expect(printDurationMs(9_000_250)).toBe('2h30m250ms');
    expect(printDurationMs(0)).toBe('0s');
  });

  it.each([
    [0, '0 ms'],
    [999.6, '1.0 s'],
    [2_345, '2.3 s'],
    [9_949, '9.9 s'],
    [9_999, '10 s'],
    [59_700, '1m 0s'],
    [83_000, '1m 23s'],
    [3_599_900, '1h 0m'],
    [9_000_000, '2h 30m'],
    [86_399_900, '1d 0h'],
    [273_600_000, '3d 4h'],
  ])('shows %d ms as %j', (ms, text) => expect(showDuration(ms)).toBe(text));
});

describe('sizes', () => {
  it.each([
    ['100MB', 100_000_000],
    ['1.5GiB', 1_610_612_736],
    ['12', 12],
    ['12 B', 12],
    ['4kb', 4_000],
    ['4 KiB', 4_096],
  ])('reads %j', (text, bytes) => expect(parseBytes(text)).toBe(bytes));

  it.each(['', 'MB', '-1', '1M', '1 XB', '1MB2', '9999999PiB'])('refuses %j', (text) =>
    expect(parseBytes(text)).toBeUndefined(),
  );

  it('prints what it reads back', () => {
    fc.assert(
      fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (bytes) => {
        expect(parseBytes(printBytes(bytes))).toBe(bytes);
      }),
      madeUp(),
    );
    expect(printBytes(1_610_612_736)).toBe('1536MiB');
    expect(printBytes(100_000_000)).toBe('100MB');
  });

  it.each([
    [0, '0 B'],
    [1_023, '1023 B'],
    [1_024, '1.0 KiB'],
    [12_897_485, '12.3 MiB'],
    [1024 ** 3 - 1, '1.0 GiB'],
  ])('shows %d bytes as %j', (bytes, text) => expect(showBytes(bytes)).toBe(text));
});

it.each([
  [430.4, '430/s'],
  [1_830, '1,830/s'],
  [2.5, '2.5/s'],
  [0.2, '12/min'],
  [0.001, '3.6/h'],
  [0, '0.0/h'],
])('shows %d per second as %j', (perSecond, text) => expect(showRate(perSecond)).toBe(text));

it('groups the digits of a count', () => {
  expect([0, 999, 1_000, 1_234_567].map(showCount)).toEqual(['0', '999', '1,000', '1,234,567']);
});
