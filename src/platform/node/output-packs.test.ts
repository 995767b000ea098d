import { existsSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NodeOutputPacks } from './output-packs.ts';

let directory: string;
let packs: NodeOutputPacks;
const file = (): string => join(directory, '00000001.pack');

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-packs-'));
  packs = new NodeOutputPacks(directory);
  await packs.write([{ file: 1, position: 0, data: Buffer.from('0123456789') }]);
  await packs.close();
});
afterEach(async () => {
  await packs.close();
  rmSync(directory, { recursive: true, force: true });
});

describe('packed output', () => {
  it('is read where it was written', async () => {
    expect(Buffer.from(await packs.read(1, 3, 4)).toString()).toBe('3456');
  });

  it('that somebody cut gives what is left of it', async () => {
    truncateSync(file(), 5);
    expect(Buffer.from(await packs.read(1, 3, 4)).toString()).toBe('34');
  });

  it('that somebody removed gives nothing, and is not made anew by looking', async () => {
    rmSync(file());
    expect(await packs.read(1, 3, 4)).toHaveLength(0);
    expect(existsSync(file())).toBe(false);
  });

  it('that can not be written says where and why', async () => {
    rmSync(directory, { recursive: true, force: true });
    const write = packs.write([{ file: 2, position: 0, data: Buffer.from('x') }]);
    await expect(write).rejects.toThrow(
      expect.objectContaining({ code: 'store-unwritable', message: expect.stringContaining(directory) }),
    );
  });
});
