/**
 * The spawner as a child of the worker. When it dies, everything that it had started is still below the worker (a
 * subreaper) and is killed before anyone hears of it: nothing that a task started survives its spawner.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { decodeFrame, encodeFrame, type FromSpawner, LineSplitter, type ToSpawner } from '../../protocol/spawner.ts';
import { uptimeMs } from './clock.ts';
import type { Libc } from './libc.ts';
import type { CgroupPlace } from './memory-cgroup.ts';
import { killTree } from './process-tree.ts';

export interface SpawnerProcessOptions {
  readonly script: string;
  readonly libc: Libc | undefined;
  /** Inherited as descriptor 3; see host-lock.ts. */
  readonly lockFd: number | undefined;
  /** Pids of the spawners of this worker: when one dies, what it ran is killed, and not the others. */
  readonly siblings: Set<number>;
  /** Where the cgroups of tasks may be made. */
  readonly cgroups?: CgroupPlace | undefined;
}

export interface SpawnerProcessListener {
  onMessages(messages: readonly FromSpawner[]): void;
  onGone(): void;
}

export class SpawnerProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;

  constructor({ script, libc, lockFd, siblings, cgroups }: SpawnerProcessOptions, listener: SpawnerProcessListener) {
    const flags = process.execArgv.filter((flag) => !flag.startsWith('--inspect'));
    const options = cgroups === undefined ? [] : [`--cgroups=${cgroups.version}:${cgroups.path}`];
    this.#child = spawn(process.execPath, [...flags, script, ...options], {
      stdio: ['pipe', 'pipe', 'inherit', ...(lockFd === undefined ? [] : [lockFd])],
    });
    siblings.add(this.#child.pid ?? 0);
    const lines = new LineSplitter();
    this.#child.stdout?.setEncoding('utf8');
    this.#child.stdout?.on('data', (text: string) => {
      for (const line of lines.push(text)) listener.onMessages(decodeFrame<FromSpawner>(line));
    });
    // A write to a spawner that just died fails; its exit says the same.
    this.#child.stdin?.on('error', () => {});
    this.#gone = new Promise((resolve) => {
      this.#child.once('exit', () => {
        siblings.delete(this.#child.pid ?? 0);
        killTree(process.pid, { spare: siblings });
        libc?.reapOrphans(siblings);
      });
      // After its last words: ends that it reported before it died count.
      this.#child.once('close', () => {
        resolve();
        listener.onGone();
      });
    });
  }

  send(messages: readonly ToSpawner[]): void {
    const stamped = messages.map((message) => (message.t === 'renew' ? { ...message, sentAt: uptimeMs() } : message));
    this.#child.stdin?.write(encodeFrame(stamped));
  }

  /** What it ran is killed when it is seen to be dead. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** TERM to all that runs, KILL after the grace; resolves when the spawner and all of it are gone. */
  async stop(graceMs: number, mostMs: number): Promise<void> {
    this.send([{ t: 'stop', graceMs }]);
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), mostMs);
    await this.#gone;
    clearTimeout(timer);
  }
}
