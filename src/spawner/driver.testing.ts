/** Drives a real spawner process in tests: starts tasks, waits for their messages, looks at their processes. */

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readStat } from '../platform/node/process-tree.ts';
import type { FromSpawner, StartTask, TaskEnded, ToSpawner } from '../protocol/spawner.ts';
import { decodeFrame, encodeFrame, LineSplitter } from '../protocol/spawner.ts';

const ENTRY = fileURLToPath(new URL('../main/spawner.ts', import.meta.url));
const WAIT_MS_MAX = 10_000;
const POLL_MS = 5;

export type DriverOptions = {
  /** Instead of the source: a bundle. */
  readonly entry?: string;
  readonly args?: readonly string[];
  /** The file open on descriptor 3 of the spawner. */
  readonly lockFd?: number;
  readonly env?: readonly string[];
  /** A program and its options that starts the spawner in turn. */
  readonly wrapper?: readonly [string, ...string[]];
};

export type Overrides = Partial<Omit<StartTask, 't' | 'key'>>;

export type Finished = TaskEnded & { readonly stdout: string; readonly stderr: string };

export class Driver {
  readonly directory = mkdtempSync(join(tmpdir(), 'drover-spawner-'));
  readonly messages: FromSpawner[] = [];
  readonly process: ChildProcess;
  private nextKey = 1;

  constructor(options: DriverOptions = {}) {
    const [program, ...args] = [
      ...(options.wrapper ?? []),
      process.execPath,
      options.entry ?? ENTRY,
      ...(options.args ?? []),
    ];
    this.process = spawn(program ?? process.execPath, args, {
      stdio: ['pipe', 'pipe', 'inherit', options.lockFd ?? 'ignore'],
    });
    const lines = new LineSplitter();
    this.process.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      for (const line of lines.push(chunk)) this.messages.push(...decodeFrame<FromSpawner>(line));
    });
    this.process.stdin?.on('error', () => {});
    this.send({ t: 'env', id: 1, env: options.env ?? [`PATH=${process.env.PATH}`, 'LC_ALL=C'] });
  }

  send(...messages: ToSpawner[]): void {
    this.process.stdin?.write(encodeFrame(messages));
  }

  path(name: string): string {
    return join(this.directory, name);
  }

  describe(command: string, overrides: Overrides = {}): StartTask {
    const key = this.nextKey++;
    return {
      t: 'start',
      key,
      env: 1,
      vars: [],
      command,
      shell: '/bin/bash',
      cwd: this.directory,
      stdout: { path: this.path(`${key}.out`), mode: 'truncate' },
      stderr: { path: this.path(`${key}.err`), mode: 'truncate' },
      ...overrides,
    };
  }

  start(command: string, overrides: Overrides = {}): number {
    const task = this.describe(command, overrides);
    this.send(task);
    return task.key;
  }

  /** Starts a task and waits until it has written this line. */
  async startAndAwait(command: string, line: string, overrides: Overrides = {}): Promise<number> {
    const key = this.start(command, overrides);
    await until(() => this.stdout(key).split('\n').includes(line), `task ${key} to print ${line}`);
    return key;
  }

  async run(command: string, overrides: Overrides = {}): Promise<Finished> {
    const key = this.start(command, overrides);
    const ended = await this.ended(key);
    return { ...ended, stdout: this.stdout(key), stderr: this.text(`${key}.err`) };
  }

  kill(key: number, how: 'term' | 'kill' | 'term-kill', graceMs = 0, why = 'test'): void {
    this.send({ t: 'kill', key, how, graceMs, why });
  }

  ended(key: number): Promise<TaskEnded> {
    return this.message('ended', key);
  }

  failed(key: number): Promise<Extract<FromSpawner, { t: 'failed' }>> {
    return this.message('failed', key);
  }

  started(key: number): Promise<Extract<FromSpawner, { t: 'started' }>> {
    return this.message('started', key);
  }

  ready(): Promise<Extract<FromSpawner, { t: 'ready' }>> {
    return this.message('ready');
  }

  stdout(key: number): string {
    return this.text(`${key}.out`);
  }

  text(name: string): string {
    return existsSync(this.path(name)) ? readFileSync(this.path(name), 'utf8') : '';
  }

  /** A number that a task wrote on its line `name=…`. */
  number(key: number, name: string): number {
    return Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(this.stdout(key))?.[1]);
  }

  async exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'exit');
    return { code: this.process.exitCode, signal: this.process.signalCode };
  }

  async close(): Promise<void> {
    this.process.stdin?.end();
    await this.exited();
    rmSync(this.directory, { recursive: true, force: true });
  }

  private async message<Type extends FromSpawner['t']>(
    t: Type,
    key?: number,
  ): Promise<Extract<FromSpawner, { t: Type }>> {
    const find = () => this.messages.find((m) => m.t === t && (key === undefined || ('key' in m && m.key === key)));
    await until(() => find() !== undefined, `${t} ${key ?? ''} among ${JSON.stringify(this.messages.slice(-5))}`);
    return find() as Extract<FromSpawner, { t: Type }>;
  }
}

export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid)) throw new Error(`${pid} is no pid`);
  const state = readStat(pid)?.state;
  return state !== undefined && state !== 'Z' && state !== 'X';
}
