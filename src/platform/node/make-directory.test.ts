import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeDirectory } from './make-directory.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'drover-mkdir-'));
});
afterEach(() => rmSync(base, { recursive: true }));

describe('making a directory', () => {
  it('makes those above it, too, and is content with what is there', () => {
    makeDirectory(join(base, 'a', 'b', 'c'));
    makeDirectory(join(base, 'a', 'b', 'c'));
    expect(statSync(join(base, 'a', 'b', 'c')).isDirectory()).toBe(true);
  });

  it('fails below a file and below /proc, at once', () => {
    writeFileSync(join(base, 'file'), '');
    expect(() => makeDirectory(join(base, 'file', 'x'))).toThrow();
    expect(() => makeDirectory('/proc/no-such-folder/x')).toThrow();
  });
});
