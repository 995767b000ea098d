import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  accessPath,
  isAccessDamaged,
  loadTokens,
  readAccessFile,
  removeAccessFile,
  writeAccessFile,
} from './access-file.ts';

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

  it('that is missing is none, and not damaged', () => {
    expect(readAccessFile(accessPath(directory))).toBeUndefined();
    expect(isAccessDamaged(directory)).toBe(false);
  });

  it.each([
    ['', 'empty'],
    ['rubbish', 'no JSON'],
    ['null', 'no object'],
    [JSON.stringify({ ...access(1), version: 2 }), 'of another version'],
    [JSON.stringify({ ...access(1), url: 'nowhere' }), 'without an address'],
    [JSON.stringify({ ...access(1), tokens: { admin: 'a' } }), 'without a token'],
  ])('%j is damaged: %s', (content) => {
    writeFileSync(accessPath(directory), content);
    expect(readAccessFile(accessPath(directory))).toBeUndefined();
    expect(isAccessDamaged(directory)).toBe(true);
  });

  it('that was made for others has one token, for whatever it is used', () => {
    writeFileSync(accessPath(directory), JSON.stringify({ version: 1, url: 'https://h:1', token: 't' }));
    const expected = { version: 1, url: 'https://h:1', tokens: { admin: 't', worker: 't' } };
    expect(readAccessFile(accessPath(directory))).toEqual(expected);
  });

  it('that can not be written is an error of the folder, and leaves nothing aside', () => {
    mkdirSync(accessPath(directory));
    expect(() => writeAccessFile(directory, access(1))).toThrow(
      expect.objectContaining({ code: 'store-unwritable', message: expect.stringContaining(accessPath(directory)) }),
    );
    expect(readdirSync(directory)).toEqual(['access.json']);
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

  it('are made anew when one of them would let everybody in', () => {
    const { worker } = loadTokens(directory);
    writeFileSync(join(directory, 'tokens.json'), JSON.stringify({ admin: '', worker }));
    expect(loadTokens(directory).admin.length).toBeGreaterThan(40);
  });
});
