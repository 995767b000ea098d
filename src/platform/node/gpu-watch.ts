/**
 * How busy the GPUs of this machine are, by `nvidia-smi`, one process of which runs while somebody wants to know.
 *
 * Owns that process, and when to try again with another one.
 * 1. One that says nothing for `silenceMs` hangs, and is killed; a driver that is stuck keeps nothing else from going on.
 * 2. That it can't be asked is said once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { gpuWatchLimits } from '../../model/limits.ts';
import type { GpuReading, Log } from '../env.ts';

const { everyMs, silenceMs, retryMs, lineCharactersMax } = gpuWatchLimits;
const query = ['--query-gpu=index,uuid,utilization.gpu', '--format=csv,noheader,nounits', `--loop=${everyMs / 1_000}`];
/** The lines of all GPUs come at once. */
const gatherMs = 100;

type Listener = (readings: readonly GpuReading[]) => void;

export interface GpuWatchTimes {
  readonly silenceMs: number;
  readonly retryMs: { readonly first: number; readonly max: number };
}

export class GpuWatch {
  readonly #log: Log;
  readonly #times: GpuWatchTimes;
  #listener: Listener | undefined;
  #child: ChildProcess | undefined;
  #text = '';
  #readings: GpuReading[] = [];
  #gathering: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #hasWarned = false;

  constructor(log: Log, times: GpuWatchTimes = { silenceMs, retryMs }) {
    this.#log = log;
    this.#times = times;
  }

  /** One listener at a time. Returns how to stop. */
  start(listener: Listener): () => void {
    this.#listener = listener;
    if (this.#retry === undefined) this.#begin();
    return () => this.#stop();
  }

  #stop(): void {
    this.#listener = undefined;
    clearTimeout(this.#gathering);
    clearTimeout(this.#silence);
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#readings = [];
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGKILL');
  }

  #begin(): void {
    this.#retry = undefined;
    const child = spawn('nvidia-smi', query, { stdio: ['ignore', 'pipe', 'ignore'] });
    this.#child = child;
    this.#text = '';
    child.once('error', (error) => this.#onEnd(child, error.message));
    child.once('close', (code, signal) => this.#onEnd(child, `nvidia-smi ended with ${signal ?? code}`));
    child.stdout.setEncoding('utf8').on('data', (text: string) => child === this.#child && this.#onText(text));
    this.#expectMore(child);
  }

  #expectMore(child: ChildProcess): void {
    clearTimeout(this.#silence);
    const ms = this.#times.silenceMs;
    this.#silence = setTimeout(() => this.#onEnd(child, `nvidia-smi said nothing for ${ms} ms`), ms);
  }

  #onText(text: string): void {
    if (this.#child !== undefined) this.#expectMore(this.#child);
    const lines = (this.#text + text).split('\n');
    this.#text = (lines.pop() ?? '').slice(-lineCharactersMax);
    for (const line of lines) {
      const reading = readingIn(line);
      if (reading !== undefined) this.#readings.push(reading);
    }
    if (this.#readings.length === 0) return;
    this.#failures = 0;
    this.#gathering ??= setTimeout(() => this.#tell(), gatherMs);
  }

  #tell(): void {
    this.#gathering = undefined;
    const readings = this.#readings;
    this.#readings = [];
    this.#listener?.(readings);
  }

  #onEnd(child: ChildProcess, why: string): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    clearTimeout(this.#silence);
    child.kill('SIGKILL');
    if (!this.#hasWarned) this.#log.warn({ why }, 'the use of GPUs is not measured: nvidia-smi does not answer');
    this.#hasWarned = true;
    const { first, max } = this.#times.retryMs;
    this.#retry = setTimeout(() => this.#begin(), Math.min(max, first * 2 ** this.#failures));
    this.#failures = Math.min(this.#failures + 1, 20);
  }
}

/** `0, GPU-7a1…, 97`; without a number of percent for what can't be measured, as parts of a GPU. */
export function readingIn(line: string): GpuReading | undefined {
  const [index, uuid, percent] = line.split(',').map((word) => word.trim());
  if (index === undefined || uuid === undefined || !/^\d+$/.test(index) || !/^\d+$/.test(percent ?? ''))
    return undefined;
  return { index, uuid, use: Math.min(1, Number(percent) / 100) };
}
