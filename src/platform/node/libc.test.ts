import { execFileSync } from 'node:child_process';
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadLibc } from './libc.ts';

const libc = loadLibc();

const held: Buffer[] = [];

/** A C string that does not move. */
function pinned(text: string): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(Buffer.byteLength(text) + 1));
  bytes.write(text);
  held.push(bytes);
  return bytes;
}

const addressOf = (text: string): number => libc?.addressOf(pinned(text)) ?? 0;

/** In a process of its own, since to adopt and to reap changes the process. */
function runScript(script: string): unknown {
  const module = fileURLToPath(new URL('./libc.ts', import.meta.url));
  const text = `import { loadLibc } from ${JSON.stringify(module)}; const libc = loadLibc(); ${script}`;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', text], { encoding: 'utf8' }));
}

describe.skipIf(!libc)('libc', () => {
  it('locks a file for one open description at a time', () => {
    const directory = mkdtempSync(join(tmpdir(), 'drover-lock-'));
    const path = join(directory, 'lock');
    const first = openSync(path, 'w');
    const second = openSync(path, 'w');
    expect(libc?.tryLock(first)).toBe(true);
    expect(libc?.tryLock(first)).toBe(true);
    expect(libc?.tryLock(second)).toBe(false);
    closeSync(first);
    expect(libc?.tryLock(second)).toBe(true);
    closeSync(second);
    rmSync(directory, { recursive: true });
  });

  it('refuses to lock what is no file', () => {
    expect(() => libc?.tryLock(9_999)).toThrow(/flock/);
  });

  it('sees of a file what Node sees, by its path and by its descriptor', () => {
    const directory = mkdtempSync(join(tmpdir(), 'drover-look-'));
    const path = join(directory, 'file');
    const fd = openSync(path, 'w+', 0o640);
    writeSync(fd, 'four');
    const { mode, ctimeMs, size: sizeBytes } = statSync(path);
    expect(libc?.lookAt(addressOf(path))).toEqual({ mode, ctimeMs, sizeBytes });
    expect(libc?.lookInto(fd)).toEqual({ mode, ctimeMs, sizeBytes });
    expect(libc?.lookAt(addressOf(directory))?.mode).toBe(statSync(directory).mode);
    expect(libc?.lookAt(addressOf(`${path}/none`))).toBeUndefined();
    closeSync(fd);
    expect(libc?.lookInto(fd)).toBeUndefined();
    rmSync(directory, { recursive: true });
  });

  it('reads from a position, and empties', () => {
    const directory = mkdtempSync(join(tmpdir(), 'drover-read-'));
    const fd = openSync(join(directory, 'file'), 'w+');
    writeSync(fd, 'abcdef');
    const bytes = pinned('......');
    expect(libc?.readAt(fd, libc.addressOf(bytes), 4, 2)).toBe(4);
    expect(bytes.toString('latin1', 0, 4)).toBe('cdef');
    expect(libc?.empty(fd)).toBe(true);
    expect(fstatSync(fd).size).toBe(0);
    closeSync(fd);
    expect(libc?.empty(fd)).toBe(false);
    expect(libc?.readAt(fd, libc.addressOf(bytes), 4, 0)).toBe(-1);
    rmSync(directory, { recursive: true });
  });

  it('has nothing to reap without children', () => {
    expect(libc?.reap(2 ** 22)).toBeUndefined();
  });

  it('adopts orphans and reaps them, leaving those of Node to Node', () => {
    const result = runScript(`
      import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      const adopted = libc.becomeSubreaper();
      const child = spawn('sh', ['-c', '(sh -c "exit 7" & sh -c "exit 8" &); sleep 0.2; exit 3']);
      let reaped = 0;
      const timer = setInterval(() => { reaped += libc.reapOrphans(new Set([child.pid])); }, 10);
      const [code] = await once(child, 'exit');
      clearInterval(timer);
      console.log(JSON.stringify({ adopted, reaped, code }));
    `);
    expect(result).toEqual({ adopted: true, reaped: 2, code: 3 });
  });
});
