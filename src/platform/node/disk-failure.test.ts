import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskFailure, onDisk } from './disk-failure.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-disk-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('a disk that says no', () => {
  it('is an operating error that names the path and the reason', () => {
    const write = () => onDisk('/dev/full', () => writeFileSync('/dev/full', 'x'));
    const message = expect.stringMatching(/^\/dev\/full can't be written: the disk is full \(ENOSPC/);
    expect(write).toThrow(expect.objectContaining({ code: 'store-unwritable', message }));
  });

  it('for a reason that is not foreseen is told in the words of the system', () => {
    mkdirSync(join(directory, 'taken'));
    const write = () => onDisk('taken', () => writeFileSync(join(directory, 'taken'), 'x'));
    expect(write).toThrow(
      expect.objectContaining({ code: 'store-unwritable', message: expect.stringContaining('EISDIR') }),
    );
  });

  it('is not blamed for a bug', () => {
    const bug = new TypeError('x is not a function');
    expect(diskFailure('x', bug)).toBe(bug);
  });
});
