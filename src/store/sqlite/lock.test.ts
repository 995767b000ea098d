import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { takeLock } from './lock.ts';

let directory: string;
let holder: ChildProcess | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-lock-'));
});

afterEach(() => {
  holder?.kill('SIGKILL');
  holder = undefined;
  rmSync(directory, { recursive: true });
});

async function startHolder(): Promise<ChildProcess> {
  const script = join(import.meta.dirname, 'fixtures', 'holder.ts');
  const child = spawn(process.execPath, ['--expose-gc', script, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  holder = child;
  await once(child.stdout, 'data');
  return child;
}

describe('the lock', () => {
  it('is refused while another process has it, and says who', async () => {
    const { pid } = await startHolder();
    expect(() => takeLock(directory)).toThrow(
      expect.objectContaining({
        code: 'store-locked',
        message: `${directory} is in use by process ${pid} on ${hostname()}`,
      }),
    );
  });

  it('is free as soon as its holder was killed', async () => {
    const child = await startHolder();
    child.kill('SIGKILL');
    await once(child, 'exit');
    takeLock(directory).release();
  });

  it('is refused to a second taker in the same process, and free after its release', () => {
    const lock = takeLock(directory);
    expect(() => takeLock(directory)).toThrow(expect.objectContaining({ code: 'store-locked' }));
    lock.release();
    takeLock(directory).release();
  });

  it('can not be taken where it can not be written', () => {
    mkdirSync(join(directory, 'lock.db'));
    expect(() => takeLock(directory)).toThrow(expect.objectContaining({ code: 'store-unwritable' }));
  });

  it('says of a damaged file that it can be removed', () => {
    writeFileSync(join(directory, 'lock.db'), 'rubbish'.repeat(1_000));
    expect(() => takeLock(directory)).toThrow(
      expect.objectContaining({ code: 'store-damaged', hint: expect.stringContaining('remove that file') }),
    );
  });
});
