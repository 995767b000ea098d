/** A real server with real workers in a folder of its own: several may be up at the same time. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type AccessFile, accessPath } from '../../src/platform/node/access-file.ts';
import type { TaskDetail } from '../../src/protocol/views/tasks.ts';
import type { WorkerView } from '../../src/protocol/views/workers.ts';
import { Client } from '../../src/sdk/client.ts';
import { childrenOf, type Ended, launcher, type Place, place, type Running, until } from './drover.ts';

const pollMs = 50;

export class Herd {
  readonly #here: Place = place();
  readonly #started: Running[] = [];

  readonly launcher = launcher;

  get path(): string {
    return this.#here.path;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  write(name: string, text = ''): void {
    writeFileSync(this.file(name), text);
  }

  has(name: string): boolean {
    return existsSync(this.file(name));
  }

  /** The lines of a file; none as long as it is not there. */
  lines(name: string): string[] {
    try {
      return readFileSync(this.file(name), 'utf8').split('\n').slice(0, -1);
    } catch {
      return [];
    }
  }

  run(...args: string[]): Promise<Ended> {
    return this.#here.run(args);
  }

  /** What a command printed that has to end well. */
  async ok(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...args);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return stdout;
  }

  start(args: readonly string[], env: Record<string, string> = {}): Running {
    const running = this.#here.start(args, '', { env: { ...env, XDG_STATE_HOME: this.file('state') } });
    this.#started.push(running);
    return running;
  }

  /** Another program, in the folder of the server. */
  script(program: readonly string[], env: Record<string, string> = {}): Running {
    const running = this.#here.start([], '', { program, env });
    this.#started.push(running);
    return running;
  }

  async server(...args: string[]): Promise<Running> {
    const server = this.start(['server', '--json', ...args]);
    await until('the server is ready', () => server.stdout().includes('\n') || server.child.exitCode !== null);
    expect(server.child.exitCode).toBeNull();
    return server;
  }

  /** Resolves when the controller has it, and knows what it runs. */
  worker(...args: string[]): Promise<Running & { readonly id: string }> {
    return this.workerIn({}, ...args);
  }

  /** One that has these variables. */
  async workerIn(env: Record<string, string>, ...args: string[]): Promise<Running & { readonly id: string }> {
    const before = new Set((await this.workers()).map(({ id }) => id));
    const worker = this.start(['worker', ...args], env);
    const { id } = await this.untilSome('the worker is there', async () =>
      (await this.workers()).find((view) => view.state !== 'new' && !before.has(view.id)),
    );
    return { ...worker, id };
  }

  /** Kills a worker with its spawner, neither of which may notice the death of the other. */
  killAtOnce({ pid }: Running): void {
    const both = [pid, ...childrenOf(pid)];
    for (const signal of ['SIGSTOP', 'SIGKILL']) for (const one of both) process.kill(one, signal);
  }

  get access(): AccessFile {
    return JSON.parse(readFileSync(accessPath(this.file('.drover')), 'utf8')) as AccessFile;
  }

  get client(): Client {
    const { url, tokens } = this.access;
    return new Client({ url, token: tokens.admin });
  }

  async workers(): Promise<WorkerView[]> {
    return await Array.fromAsync(this.client.eachWorker({ all: true }));
  }

  async workerView(id: string): Promise<WorkerView | undefined> {
    return (await this.workers()).find((view) => view.id === id);
  }

  task(id: string): Promise<TaskDetail> {
    return this.client.task(id);
  }

  /** The attempts of a task, as `k1 succeeded`, with what is lost of those that are. */
  async history(id: string): Promise<string[]> {
    return (await this.task(id)).history.map(({ worker, state, outcome }) =>
      [worker, outcome?.kind ?? state, outcome?.what ?? ''].join(' ').trimEnd(),
    );
  }

  /** Waits for what only the controller knows. */
  async untilSome<T>(what: string, look: () => Promise<T | undefined | false>, msMax = 20_000): Promise<T> {
    for (const deadline = performance.now() + msMax; performance.now() < deadline; ) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      await new Promise((done) => setTimeout(done, pollMs));
    }
    throw new Error(`waited ${msMax} ms in vain for: ${what}`);
  }

  untilTask(id: string, state: TaskDetail['state'], msMax?: number): Promise<TaskDetail> {
    const look = async () => {
      const task = await this.task(id);
      return task.state === state && task;
    };
    return this.untilSome(`${id} is ${state}`, look, msMax);
  }

  async close(): Promise<void> {
    // Gently: a worker takes its tasks along. One that a test has stopped can't be asked.
    for (const { child } of this.#started) {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
    }
    await Promise.all(this.#started.map(({ ended }) => ended));
    this.#here.remove();
  }
}
