/** The worker that a hosting command runs: a child process in a session of its own, started again when it dies. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DroverError } from '../model/errors.ts';
import { accessPath } from '../platform/node/access-file.ts';
import { isDiskFull, onDisk } from '../platform/node/disk-failure.ts';
import { readStat } from '../platform/node/process-tree.ts';
import { siblingScript } from '../platform/node/scripts.ts';
import { workerExitCodes } from './worker-process.ts';

/** Ends that follow each other faster than this mean that it can't run here at all. */
const quickEndMs = 2_000;
const quickEndsMax = 5;
const restartMs = 100;
const refusedMs = 1_000;
/** After being dismissed it has this long to end its tasks and itself. */
const endMsMax = 5_000;
/** The same, for each of TERM and KILL, when nothing else may happen meanwhile. */
const endNowMsMax = 3_000;

export class LocalWorker {
  readonly #directory: string;
  readonly #slots: number;
  readonly #onFailure: (error: unknown) => void;
  #child: ChildProcess | undefined;
  #isEnding = false;
  #quickEnds = 0;

  constructor(directory: string, slots: number, onFailure: (error: unknown) => void) {
    this.#directory = directory;
    this.#slots = slots;
    this.#onFailure = onFailure;
    this.#start();
  }

  /** Ends it, connected or not; resolves when it has ended, at the latest after having killed it. */
  async end(): Promise<void> {
    this.#isEnding = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    // Killed with -9 its spawner still kills all that runs.
    const timer = setTimeout(() => child.kill('SIGKILL'), endMsMax);
    await ended;
    clearTimeout(timer);
  }

  /**
   * For a command that can't go on: returns when the worker has ended. Synchronous, so that nothing else that fails
   * with the controller is told meanwhile.
   */
  endNow(): void {
    this.#isEnding = true;
    const pid = this.#child?.pid;
    if (pid === undefined || this.#child?.exitCode !== null || this.#child.signalCode !== null) return;
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      this.#child.kill(signal);
      // It stays a zombie until the event loop hears of it.
      const isAlive = (): boolean => !['Z', 'X', undefined].includes(readStat(pid)?.state);
      for (const deadline = performance.now() + endNowMsMax; isAlive() && performance.now() < deadline; ) pauseSync();
    }
  }

  #startAgain(): void {
    if (this.#isEnding) return;
    try {
      this.#start();
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #start(): void {
    const logs = join(this.#directory, 'logs');
    const errors = onDisk(logs, () => {
      mkdirSync(logs, { recursive: true });
      return openSync(join(logs, 'worker.err'), 'a', 0o600);
    });
    const startedAt = performance.now();
    // A session of its own: Ctrl-C in the terminal is for the command, which decides what becomes of the tasks.
    const child = spawn(
      process.execPath,
      [
        ...process.execArgv.filter((flag) => !flag.startsWith('--inspect')),
        siblingScript(import.meta.url, 'worker'),
        ...['--access', accessPath(this.#directory)],
        ...['--directory', join(this.#directory, 'worker')],
        ...['--slots', String(this.#slots)],
        ...['--log', join(logs, 'worker.log')],
      ],
      { detached: true, stdio: ['ignore', errors, errors], cwd: '/' },
    );
    this.#child = child;
    closeSync(errors);
    child.once('error', () => this.#onExit(0, null));
    child.once('exit', (code) => this.#onExit(performance.now() - startedAt, code));
  }

  #onExit(livedMs: number, code: number | null): void {
    if (this.#isEnding) return;
    if (code === workerExitCodes.locked) return this.#onFailure(lockedFailure(this.#directory));
    // Refused as long as the one before it is not given up: that passes.
    const isQuick = code === workerExitCodes.unstartable || (livedMs < quickEndMs && code !== workerExitCodes.refused);
    this.#quickEnds = isQuick ? this.#quickEnds + 1 : 0;
    if (this.#quickEnds >= quickEndsMax) {
      this.#onFailure(this.#notStarting());
      return;
    }
    setTimeout(() => this.#startAgain(), code === workerExitCodes.refused ? refusedMs : restartMs);
  }

  #notStarting(): DroverError {
    if (isDiskFull(this.#directory)) {
      return new DroverError('store-unwritable', `the worker can't start: the disk of ${this.#directory} is full`);
    }
    return quickEndFailure(join(this.#directory, 'logs', 'worker.err'));
  }
}

function quickEndFailure(path: string): DroverError {
  const last = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1) || 'it does not say why';
  return new DroverError('worker-not-starting', `the worker ends right after its start: ${last} (see ${path})`);
}

/** It has waited longer than a worker lives that lost its controller: who has the lock will not go by itself. */
function lockedFailure(directory: string): DroverError {
  const lock = join(directory, 'worker', 'lock');
  return new DroverError('worker-not-starting', `another worker holds ${lock}, and does not end`, {
    hint: `end the process that 'fuser ${lock}' names; then 'drover resume' goes on, and nothing is lost`,
  });
}
const pauseCell = new Int32Array(new SharedArrayBuffer(4));
const pauseSync = (): void => void Atomics.wait(pauseCell, 0, 0, 5);
