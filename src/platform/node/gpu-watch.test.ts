import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GpuReading, Log } from '../env.ts';
import { GpuWatch, readingIn } from './gpu-watch.ts';
import { readStat } from './process-tree.ts';

const times = { silenceMs: 300, retryMs: { first: 20, max: 50 } };
const path = process.env.PATH;
let folder = '';
let warnings: string[] = [];
let stop: () => void = () => {};
let told: (readonly GpuReading[])[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-gpu-'));
  warnings = [];
  told = [];
});
afterEach(() => {
  stop();
  process.env.PATH = path;
  rmSync(folder, { recursive: true });
});

const log: Log = { debug: () => {}, info: () => {}, error: () => {}, warn: (_, message) => warnings.push(message) };

/** A program of that name, first of all on PATH; it notes its pid, and how it was called. */
function install(script: string): void {
  const program = join(folder, 'nvidia-smi');
  writeFileSync(program, `#!/bin/bash\necho $$ >> ${folder}/pids\necho "$*" > ${folder}/arguments\n${script}\n`);
  chmodSync(program, 0o755);
  process.env.PATH = `${folder}:${path}`;
}

function start(): void {
  stop = new GpuWatch(log, times).start((readings) => told.push(readings));
}

const pids = (): number[] =>
  existsSync(`${folder}/pids`) ? readFileSync(`${folder}/pids`, 'utf8').trim().split('\n').map(Number) : [];
const isAlive = (pid: number): boolean => !['Z', 'X', undefined].includes(readStat(pid)?.state);
const eventually = (look: () => void): Promise<void> => vi.waitFor(look, { timeout: 10_000, interval: 10 });

describe('the use of GPUs', () => {
  it('is what nvidia-smi says, line by line, of all of them at once', async () => {
    install('while :; do printf "0, GPU-a1, 50\\n1, GP"; printf "U-b2, 100\\n2, GPU-c3, [N/A]\\n"; sleep 0.2; done');
    start();
    await eventually(() => expect(told.length).toBeGreaterThan(1));
    for (const readings of told) {
      expect(readings).toEqual([
        { index: '0', uuid: 'GPU-a1', use: 0.5 },
        { index: '1', uuid: 'GPU-b2', use: 1 },
      ]);
    }
    expect(readFileSync(`${folder}/arguments`, 'utf8')).toContain('--query-gpu=index,uuid,utilization.gpu');
    expect([pids().length, warnings]).toEqual([1, []]);
  });

  it('is asked for by one process, which ends with whoever wants to know', async () => {
    install('exec sleep 1000');
    start();
    await eventually(() => expect(pids()).toHaveLength(1));
    stop();
    await eventually(() => expect(pids().filter(isAlive)).toEqual([]));
    expect([pids().length, warnings]).toEqual([1, []]);
  });

  it('is unknown while nvidia-smi hangs: it is killed, tried again, and warned of once', async () => {
    install('trap "" TERM; while :; do sleep 1; done');
    start();
    await eventually(() => expect(pids().length).toBeGreaterThan(2));
    await eventually(() => expect(pids().slice(0, -1).filter(isAlive)).toEqual([]));
    expect([told, warnings]).toEqual([[], ['the use of GPUs is not measured: nvidia-smi does not answer']]);
  });

  it('is known again when nvidia-smi answers after all', async () => {
    install(`test $(wc -l < ${folder}/pids) -gt 2 || exit 9; echo "0, GPU-a, 10"; exec sleep 1000`);
    start();
    await eventually(() => expect(told).toEqual([[{ index: '0', uuid: 'GPU-a', use: 0.1 }]]));
    expect(warnings).toHaveLength(1);
  });

  it('is unknown where there is no nvidia-smi', async () => {
    process.env.PATH = folder;
    start();
    await eventually(() => expect(warnings).toHaveLength(1));
  });

  it('has no reading in other lines', () => {
    for (const line of ['', 'No devices were found', 'NVIDIA-SMI has failed, because, x', '0, GPU-a', 'a, GPU-a, 5']) {
      expect(readingIn(line)).toBeUndefined();
    }
  });
});
