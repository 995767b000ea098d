import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accessPath, loadTokens, readAccessFile, removeAccessFile, writeAccessFile } from './access-file.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-access-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const access = (pid: number) => ({ version: 1 as const, url: 'http://h:1', pid, tokens: { admin: 'a', worker: 'w' } });

describe('the access file', () => {
  it('is read as it was written, and by its owner only', () => {
    writeAccessFile(directory, access(process.pid));
    expect(readAccessFile(accessPath(directory))).toEqual(access(process.pid));
    expect(statSync(accessPath(directory)).mode & 0o777).toBe(0o600);
  });

  it('that is missing, damaged or of another version is none', () => {
    expect(readAccessFile(accessPath(directory))).toBeUndefined();
    writeFileSync(accessPath(directory), 'rubbish');
    expect(readAccessFile(accessPath(directory))).toBeUndefined();
    writeFileSync(accessPath(directory), JSON.stringify({ ...access(1), version: 2 }));
    expect(readAccessFile(accessPath(directory))).toBeUndefined();
  });

  it('is removed only by the controller that wrote it', () => {
    writeAccessFile(directory, access(process.pid + 1));
    removeAccessFile(directory);
    expect(readAccessFile(accessPath(directory))).toBeDefined();
    writeAccessFile(directory, access(process.pid));
    removeAccessFile(directory);
    expect(readAccessFile(accessPath(directory))).toBeUndefined();
  });
});

describe('the tokens of a folder', () => {
  it('stay the same over restarts, differ between folders, and are for their owner only', () => {
    const first = loadTokens(directory);
    expect(loadTokens(directory)).toEqual(first);
    expect(first.admin).not.toBe(first.worker);
    expect(statSync(join(directory, 'tokens.json')).mode & 0o777).toBe(0o600);
  });

  it('are made anew when the file is damaged', () => {
    const first = loadTokens(directory);
    writeFileSync(join(directory, 'tokens.json'), '{');
    expect(loadTokens(directory)).not.toEqual(first);
  });
});
