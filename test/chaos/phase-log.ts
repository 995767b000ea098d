/**
 * Follows the lines that controllers write about their phases, closely enough to act within one: a phase may last less
 * than a millisecond, so who aims looks every tenth of one, and blocks this process meanwhile.
 */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Phase } from '../../src/controller/phases.ts';

export const phases: readonly Phase[] = ['submitting', 'idle', 'dispatching', 'committing', 'recovering'];

const lookEveryMs = 0.1;
/** Blocked for so long at most; then this process has its turn. */
const sliceMs = 15;
const restMs = 3;
const linePattern = /"pid":(\d+),.*"phase":"(\w+)"/;

export class PhaseLog {
  readonly #path: string;
  readonly #buffer = Buffer.alloc(64 * 1024);
  readonly #cell = new Int32Array(new SharedArrayBuffer(4));
  readonly #lastOf = new Map<number, Phase>();
  #fd: number | undefined;
  #rest = '';

  constructor(path: string) {
    this.#path = path;
  }

  /** What a controller said last; undefined when it has said nothing yet. */
  lastOf(pid: number): Phase | undefined {
    this.#read();
    return this.#lastOf.get(pid);
  }

  /** Until the controller is in that phase; false when it was not in that time. */
  async caught(pid: number, wanted: Phase, msMax: number): Promise<boolean> {
    for (const deadline = performance.now() + msMax; performance.now() < deadline; await rest()) {
      for (const end = performance.now() + sliceMs; performance.now() < end; this.block(lookEveryMs)) {
        if (this.lastOf(pid) === wanted) return true;
      }
    }
    return false;
  }

  block(ms: number): void {
    Atomics.wait(this.#cell, 0, 0, ms);
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #read(): void {
    this.#fd ??= openSync(this.#path, 'r');
    for (;;) {
      const length = readSync(this.#fd, this.#buffer, 0, this.#buffer.length, null);
      if (length === 0) return;
      const lines = (this.#rest + this.#buffer.toString('latin1', 0, length)).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line);
    }
  }

  #take(line: string): void {
    const [, pid, phase] = linePattern.exec(line) ?? [];
    if (pid !== undefined) this.#lastOf.set(Number(pid), phase as Phase);
  }
}

const rest = (): Promise<void> => new Promise((done) => setTimeout(done, restMs));
