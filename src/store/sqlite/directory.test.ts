import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareDirectory, sharedFileSystem } from './directory.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'drover-directory-'));
});

afterEach(() => rmSync(home, { recursive: true }));

describe('the folder', () => {
  it('is made with its parents, for its owner only, and is kept out of version control', () => {
    const directory = join(home, 'deep', '.drover');
    prepareDirectory(directory);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
  });

  it('is left as it is when it is there', () => {
    const directory = join(home, '.drover');
    mkdirSync(directory);
    writeFileSync(join(directory, '.gitignore'), 'mine\n');
    prepareDirectory(directory);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('mine\n');
  });

  it('is refused when it is a file, or below one', () => {
    const file = join(home, 'file');
    writeFileSync(file, '');
    for (const path of [file, join(file, '.drover')]) {
      expect(() => prepareDirectory(path)).toThrow(
        expect.objectContaining({ code: 'store-unwritable', message: expect.stringContaining(path) }),
      );
    }
  });

  it('is refused where nobody may write, not even root', () => {
    expect(() => prepareDirectory('/sys/.drover')).toThrow(expect.objectContaining({ code: 'store-unwritable' }));
  });
});

describe('a file system', () => {
  it.each([
    ['NFS', 0x6969n],
    ['SMB', 0x517bn],
    ['SMB', 0xfe534d42n],
    ['CIFS', 0xff534d42n],
    ['Lustre', 0x0bd00bd0n],
    ['GPFS', 0x47504653n],
    ['AFS', 0x5346414fn],
    ['Ceph', 0x00c36400n],
    ['BeeGFS', 0x19830326n],
  ])('that hosts share is known: %s', (name, type) => {
    expect(sharedFileSystem(type)).toBe(name);
  });

  it('is known when its number comes back with a sign', () => {
    expect(sharedFileSystem(BigInt.asIntN(32, 0xff534d42n))).toBe('CIFS');
    expect(sharedFileSystem(BigInt.asUintN(64, BigInt.asIntN(32, 0xfe534d42n)))).toBe('SMB');
  });

  it.each([
    ['ext4', 0xef53n],
    ['XFS', 0x58465342n],
    ['Btrfs', 0x9123683en],
    ['tmpfs', 0x01021994n],
    ['overlay', 0x794c7630n],
    ['ZFS', 0x2fc12fc1n],
    ['9p', 0x01021997n],
    ['FUSE', 0x65735546n],
    ['APFS on macOS', 0x1an],
  ])('of one host is not refused: %s', (_, type) => {
    expect(sharedFileSystem(type)).toBeUndefined();
  });
});
