/**
 * What the CLI needs of the process (`CliEnv` in src/cli/environment.ts, which this layer does not know).
 *
 * Output goes through the thread pool, one write at a time: `process.stdout` blocks the loop on a pipe or terminal that
 * nobody reads (`| less`, Ctrl-S), and this process may host the controller, whose workers would take it for dead.
 */

import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { accessSync, constants, createReadStream, statSync, write as writeFd } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { availableParallelism, constants as osConstants } from 'node:os';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { DroverError } from '../../model/errors.ts';
import { compilePattern } from './patterns.ts';

const writeOnce = promisify(writeFd);
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** As shells have it. */
const shellMissing = 127;
/** And the number of the signal. */
const shellSignalled = 128;
const columnsDefault = 80;
const fullPipePauseMs = 10;
/** What helps where a file can't be written. */
const unwritableHints = new Map<unknown, string>([
  ['ENOENT', 'make its folder first, or name another file'],
  ['ENOSPC', 'make room, or name another file'],
  ['EDQUOT', 'make room, or name another file'],
]);

export class NodeOutput {
  readonly isTerminal: boolean;
  private readonly fd: 1 | 2;
  private isClosed = false;
  private last: Promise<unknown> = Promise.resolve();

  constructor(fd: 1 | 2) {
    this.fd = fd;
    this.isTerminal = isatty(fd);
  }

  get columns(): number {
    return (this.fd === 1 ? process.stdout : process.stderr).columns || columnsDefault;
  }

  write(content: string | Uint8Array): Promise<boolean> {
    const written = this.last.then(() => this.writeAll(Buffer.from(content)));
    this.last = written.catch(() => undefined);
    return written;
  }

  private async writeAll(bytes: Uint8Array): Promise<boolean> {
    let offset = 0;
    while (offset < bytes.length && !this.isClosed) {
      try {
        offset += (await writeOnce(this.fd, bytes, offset, bytes.length - offset, null)).bytesWritten;
      } catch (error) {
        await this.onWriteError(error);
      }
    }
    return !this.isClosed;
  }

  private async onWriteError(error: unknown): Promise<void> {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EPIPE' || code === 'EIO') this.isClosed = true;
    // Another process may have made the shared terminal or pipe non-blocking.
    else if (code === 'EAGAIN') await new Promise((resolve) => setTimeout(resolve, fullPipePauseMs));
    else
      throw new DroverError('store-unwritable', `the output can't be written: ${code ?? error}`, {
        cause: error,
        hint: 'make room, or write elsewhere',
      });
  }
}

/** Pieces are gathered: a write each would take most of the time. */
const writeCharsMin = 256 * 1024;

async function writeWhole(path: string, pieces: Iterable<string>): Promise<void> {
  const file = await open(path, 'w');
  try {
    let text = '';
    for (const piece of pieces) {
      text += piece;
      if (text.length < writeCharsMin) continue;
      await file.appendFile(text);
      text = '';
    }
    await file.appendFile(text);
  } finally {
    await file.close();
  }
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new DroverError('bad-input', 'the current directory is gone', { cause, hint: 'cd to one that exists' });
  }
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

export class NodeCliEnvironment {
  readonly version: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd = workingDirectory();
  readonly cores = availableParallelism();
  readonly stdout = new NodeOutput(1);
  readonly stderr = new NodeOutput(2);

  constructor(version: string) {
    this.version = version;
    const given = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.variables = Object.fromEntries(given);
  }

  get isStdinTerminal(): boolean {
    return isatty(0);
  }

  readStdin(): AsyncIterable<Uint8Array> {
    return process.stdin;
  }

  kindOf(path: string): 'file' | 'directory' | 'missing' {
    try {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined) return 'missing';
      return found.isDirectory() ? 'directory' : 'file';
    } catch {
      return 'file'; // it can't be looked at: reading it will say why
    }
  }

  isExecutable(path: string): boolean {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false;
    }
  }

  /** Opened when it is read: a stream that nobody reads would end the process if it fails. */
  async *readFile(path: string): AsyncGenerator<Uint8Array> {
    yield* createReadStream(path);
  }

  /** What is no plain file, such as /dev/stdout, is written as it is. */
  async writeFile(path: string, pieces: Iterable<string>): Promise<void> {
    const isPlain = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
    const partial = isPlain ? `${path}.${process.pid}.part` : path;
    try {
      await writeWhole(partial, pieces);
      if (isPlain) await rename(partial, path);
    } catch (error) {
      if (isPlain) await rm(partial, { force: true }).catch(() => undefined);
      const code = error instanceof Error && 'code' in error ? error.code : error;
      throw new DroverError('store-unwritable', `${path} can't be written: ${code}`, {
        cause: error,
        hint: unwritableHints.get(code) ?? 'name another file',
      });
    }
  }

  digest(text: string): string {
    return hash('sha256', text);
  }

  /** One that can't be run is one that failed: a run must not end for it. Nor wait for one that does not end. */
  runShell(line: string, variables: Readonly<Record<string, string>>, msMax: number): Promise<number | 'too-long'> {
    return new Promise((resolve) => {
      try {
        const env = { ...process.env, ...variables };
        // A group of its own, so that all of it can be ended; what ends this process ends it, too.
        const child = spawn('/bin/sh', ['-c', line], { env, stdio: ['ignore', 2, 2], detached: true });
        const kill = (): void => endGroup(child.pid);
        const stopListening = this.onSignal(kill);
        const end = (code: number | 'too-long'): void => {
          clearTimeout(timer);
          stopListening();
          resolve(code);
        };
        const timer = setTimeout(() => {
          kill();
          end('too-long');
        }, msMax);
        child.on('error', () => end(shellMissing));
        child.on('exit', (code, signal) =>
          end(code ?? (signal === null ? 1 : shellSignalled + osConstants.signals[signal])),
        );
      } catch {
        // Of variables with a NUL in them there is no environment.
        resolve(shellMissing);
      }
    });
  }

  readonly compilePattern = compilePattern;

  /** The space of new objects, three times over, is most of what such a process has: it is not let grow. */
  staySmall(): void {
    setFlagsFromString('--semi-space-growth-factor=1');
  }

  onSignal(listener: (signal: (typeof stopSignals)[number]) => void): () => void {
    for (const signal of stopSignals) process.on(signal, listener);
    return () => {
      for (const signal of stopSignals) process.off(signal, listener);
    };
  }
}
