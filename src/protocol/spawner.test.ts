import { describe, expect, it } from 'vitest';
import type { ToSpawner } from './spawner.ts';
import { decodeFrame, encodeFrame, LineSplitter, SPAWNER_LINE_CHARS_MAX } from './spawner.ts';

const message = (entry: string): ToSpawner => ({ t: 'env', id: 1, env: [entry] });

describe('frames between worker and spawner', () => {
  it('carry many messages in a line', () => {
    const messages = [message('a'), message('line\nbreak')];
    const frame = encodeFrame(messages);
    expect(frame.match(/\n/g)).toHaveLength(1);
    expect(decodeFrame(frame)).toEqual(messages);
  });

  it('carry what tasks have in common once', () => {
    const task = (key: number, command: string): ToSpawner => ({
      ...{ t: 'queue', key, env: 1, vars: [`KEY=${key}`], command, shell: '/bin/sh', cwd: '/' },
    });
    const messages = [task(1, 'long'), message('a'), task(2, 'long'), task(3, 'other'), task(4, 'long')];
    const frame = encodeFrame(messages);
    expect(frame.match(/long/g)).toHaveLength(2);
    expect(frame.match(/bin/g)).toHaveLength(1);
    expect(decodeFrame(frame)).toEqual(messages);
  });

  it('are split where one line would be too long', () => {
    const messages = Array.from({ length: 5 }, (_, i) => message(String(i).repeat(SPAWNER_LINE_CHARS_MAX / 4)));
    const lines = new LineSplitter().push(encodeFrame(messages));
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.every((line) => line.length < SPAWNER_LINE_CHARS_MAX)).toBe(true);
    expect(lines.flatMap((line) => decodeFrame<ToSpawner>(line))).toEqual(messages);
  });

  it('refuse a single message beyond the limit, and anything but an array', () => {
    expect(() => encodeFrame([message('x'.repeat(SPAWNER_LINE_CHARS_MAX))])).toThrow(/exceeds/);
    expect(() => decodeFrame('{}')).toThrow(/array/);
  });
});

describe('the line splitter', () => {
  it('joins lines that arrive in pieces', () => {
    const splitter = new LineSplitter();
    expect(splitter.push('a')).toEqual([]);
    expect(splitter.push('b\nc\n\nd')).toEqual(['ab', 'c', '']);
    expect(splitter.push('\n')).toEqual(['d']);
  });

  it('refuses a line that does not end', () => {
    const splitter = new LineSplitter();
    const piece = 'x'.repeat(SPAWNER_LINE_CHARS_MAX / 4);
    expect(() => {
      for (let i = 0; i < 5; i++) splitter.push(piece);
    }).toThrow(/exceeds/);
  });
});
