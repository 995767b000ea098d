/** Runs commands by a real spawner process. Owns that process, and who waits for which of its tasks. */

import { readFileSync } from 'node:fs';
import { allProcesses, readEnvironmentEntry } from '../../src/platform/node/process-tree.ts';
import type { FromSpawner } from '../../src/protocol/spawner.ts';
import { SPAWN_KEY_VARIABLE } from '../../src/protocol/spawner.ts';
import { Driver } from '../../src/spawner/driver.testing.ts';
import type { Run, RunEnd } from './run.ts';

type Ending = Extract<FromSpawner, { t: 'ended' | 'failed' }>;

const RUN_MS_MAX = 5_000;

export class SpawnerRunner {
  private readonly driver = new Driver();
  private readonly waiting = new Map<number, (ending: Ending) => void>();
  private readonly environments = new Map<string, number>();
  private heard = 0;

  constructor() {
    // After the driver's own listener, which has decoded the messages by then.
    this.driver.process.stdout?.on('data', () => this.hear());
  }

  async run(run: Run): Promise<RunEnd> {
    const task = this.driver.describe(run.command, {
      shell: run.shell,
      cwd: run.cwd,
      env: this.environmentOf(run),
      stdout: { path: run.stdout, mode: 'truncate' },
      stderr: { path: run.stderr, mode: 'truncate' },
    });
    const end = new Promise<Ending>((resolve) => this.waiting.set(task.key, resolve));
    this.driver.send(task);
    const timer = setTimeout(() => this.driver.kill(task.key, 'kill'), RUN_MS_MAX);
    const ending = await end;
    clearTimeout(timer);
    if (ending.t === 'failed') throw new Error(`${run.command} was not started: ${ending.message}`);
    return {
      ...(ending.signal === undefined ? { exit: ending.exit ?? -1 } : { signal: ending.signal }),
      stdout: readFileSync(run.stdout),
      stderr: readFileSync(run.stderr),
      leftovers: ending.leftovers ?? 0,
    };
  }

  /** Answers the processes that are left although every task has ended. */
  async close(): Promise<number[]> {
    const prefix = `${this.driver.process.pid}.`;
    const left = allProcesses().filter((pid) => readEnvironmentEntry(pid, SPAWN_KEY_VARIABLE)?.startsWith(prefix));
    await this.driver.close();
    return left;
  }

  private hear(): void {
    const { messages } = this.driver;
    for (; this.heard < messages.length; this.heard++) {
      const message = messages[this.heard];
      if (message?.t !== 'ended' && message?.t !== 'failed') continue;
      this.waiting.get(message.key)?.(message);
      this.waiting.delete(message.key);
    }
  }

  private environmentOf(run: Run): number {
    const text = run.env.join('\0');
    const known = this.environments.get(text);
    if (known !== undefined) return known;
    const id = 100 + this.environments.size;
    this.environments.set(text, id);
    this.driver.send({ t: 'env', id, env: run.env });
    return id;
  }
}
