/**
 * A spawner without processes: how a task goes is in the first letters of its command. Every task writes
 * `out of <command>` to stdout at once; then
 * - `fail…` writes to stderr and exits 1 in its first attempt, and is done in any later one;
 * - `exit N …` writes the rest to stderr and exits so, whenever it is tried;
 * - `hang…` runs until it is killed;
 * - `stuck…` runs on whatever signal it gets, as a process does that waits in the kernel for a dead disk;
 * - everything else is done.
 *
 * Owns: the tasks that run. Like a pipe, it answers in a later turn of the event loop, and in order.
 */
import type { FromSpawner, KillTask, StartTask, TaskEnded, ToSpawner } from '../../src/protocol/spawner.ts';
import { SlotQueue } from '../../src/spawner/slot-queue.ts';
import type { SpawnerHandle, SpawnerListener } from '../../src/worker/shell.ts';
import type { MemoryOutputFiles } from './memory-files.ts';

const failure = 'oh\n';
const sigterm = 15;

interface RunningTask {
  readonly task: StartTask;
  readonly startedAt: number;
}

export class ScriptedSpawner implements SpawnerHandle {
  readonly #files: MemoryOutputFiles;
  readonly #listener: SpawnerListener;
  readonly #now: () => number;
  readonly #running = new Map<number, RunningTask>();
  readonly #queue: SlotQueue;
  #outbox: FromSpawner[] = [];
  #isWriting = false;
  #isStopped = false;

  constructor(files: MemoryOutputFiles, now: () => number, listener: SpawnerListener) {
    this.#files = files;
    this.#now = now;
    this.#listener = listener;
    this.#queue = new SlotQueue({
      pass: (message) => this.#handle(message),
      forgetFile: () => {},
      send: (message) => this.#post(message),
      wake: () => this.#write(),
      now: () => Number.POSITIVE_INFINITY,
    });
    this.#post({ t: 'ready', pid: process.pid, launcher: 'node' });
  }

  send(messages: readonly ToSpawner[]): void {
    for (const message of messages) this.#queue.handle(message);
  }

  #handle(message: ToSpawner): void {
    if (message.t === 'start') this.#start(message);
    if (message.t === 'kill') this.#kill(message);
    if (message.t === 'ping') this.#post({ t: 'pong' });
  }

  kill(): void {
    this.stop();
    this.#listener.onGone();
  }

  /** All that runs is gone, and says nothing any more. */
  stop(): void {
    this.#isStopped = true;
    this.#running.clear();
  }

  #start(task: StartTask): void {
    const { key, command, stdout, stderr } = task;
    const at = this.#now();
    const running = { task, startedAt: at };
    this.#running.set(key, running);
    for (const { path } of [stdout, stderr]) this.#files.empty(path);
    const files = { stdout: stdout.path, stderr: stderr.path };
    this.#queue.onMessage({ t: 'started', key, pid: process.pid, at, files });
    this.#files.append(stdout.path, `out of ${command}`);
    if (/^(hang|stuck)/.test(command)) return;
    const fails = command.startsWith('fail') && task.vars.includes('DROVER_ATTEMPT=1');
    const [, code, text = ''] = /^exit (\d+) ?(.*)$/s.exec(command) ?? [];
    if (fails) this.#files.append(stderr.path, failure);
    if (code !== undefined) this.#files.append(stderr.path, text);
    this.#end(running, { exit: code === undefined ? Number(fails) : Number(code) });
  }

  #kill({ key, why }: KillTask): void {
    const running = this.#running.get(key);
    if (running === undefined || running.task.command.startsWith('stuck')) return;
    this.#end(running, { signal: sigterm, signalled: { why, killed: false } });
  }

  #end({ task, startedAt }: RunningTask, how: Pick<TaskEnded, 'exit' | 'signal' | 'signalled'>): void {
    this.#running.delete(task.key);
    this.#queue.onMessage({
      ...{ t: 'ended', key: task.key, ...how, cpuMs: 0, wallMs: this.#now() - startedAt, at: startedAt },
      out: this.#files.endOf(task.stdout.path),
      err: this.#files.endOf(task.stderr.path),
    });
  }

  #post(message: FromSpawner): void {
    this.#outbox.push(message);
    this.#write();
  }

  #write(): void {
    if (this.#isWriting) return;
    this.#isWriting = true;
    setImmediate(() => {
      this.#isWriting = false;
      const messages = [...this.#outbox, ...this.#queue.takeStarts()];
      this.#outbox = [];
      if (!this.#isStopped) this.#listener.onMessages(messages);
    });
  }
}
