/**
 * A worker that runs nothing: the real reactor, the real shell and the real socket to the controller, but each task is
 * answered at once with its end (exit 0, nothing written), where a spawner would have made a process.
 * What is measured with it is all of Drover but the processes.
 *
 * node bench/idle-worker.ts --access FILE --directory DIR --slots N [--shuffle] [--fail-every N] [--stamps FILE]
 *
 * --shuffle: tasks end in random order among those that run. --fail-every: of so many one
 * fails, in one of a few ways (failing.ts). --stamps: counts of starts with their times, one line for
 * every thousand, and one for the first.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import type { Log } from '../src/platform/env.ts';
import { readAccessFile } from '../src/platform/node/access-file.ts';
import { realClock, uptimeMs } from '../src/platform/node/clock.ts';
import { nodeOutputFiles } from '../src/platform/node/output-files.ts';
import { webSocketNet } from '../src/platform/node/sockets.ts';
import type { FromSpawner, ToSpawner } from '../src/protocol/spawner.ts';
import { type SpawnerHandle, type SpawnerListener, WorkerShell } from '../src/worker/shell.ts';
import { failureOf } from './failing.ts';

const stampEvery = 1_000;
/** For the goodbye to leave the process. */
const goodbyeMs = 20;

const { values } = parseArgs({
  options: {
    access: { type: 'string', default: '' },
    directory: { type: 'string', default: '' },
    slots: { type: 'string', default: '4' },
    shuffle: { type: 'boolean', default: false },
    'fail-every': { type: 'string', default: '0' },
    stamps: { type: 'string' },
  },
});
const clock = realClock();

/**
 * Owns: the tasks that run. Like a pipe, it answers in a later turn of the event loop.
 * In random order it holds back what it has until as many run as there are slots, or until nothing more comes, and then
 * ends one half of it: the ends of a turn are spread over all that run.
 */
class IdleSpawner implements SpawnerHandle {
  readonly #listener: SpawnerListener;
  readonly #isShuffled: boolean;
  #outbox: FromSpawner[] = [];
  /** By their keys. */
  #running: number[] = [];
  #isAsleep = true;
  #started = 0;

  constructor(listener: SpawnerListener, isShuffled: boolean) {
    this.#listener = listener;
    this.#isShuffled = isShuffled;
    this.#outbox.push({ t: 'ready', pid: process.pid, launcher: 'node' });
    this.#wake();
  }

  send(messages: readonly ToSpawner[]): void {
    for (const message of messages) {
      if (message.t === 'start' || message.t === 'queue') this.#start(message.key);
      if (message.t === 'ping') this.#outbox.push({ t: 'pong' });
    }
    this.#wake();
  }

  kill(): void {
    this.#listener.onGone();
  }

  #start(key: number): void {
    this.#running.push(key);
    // Health checks are below zero.
    if (key > 0) stamp(++this.#started);
  }

  #wake(): void {
    if (!this.#isAsleep) return;
    this.#isAsleep = false;
    setImmediate(() => {
      this.#isAsleep = true;
      const messages = [...this.#outbox, ...this.#takeEnding().map(endOf)];
      this.#outbox = [];
      if (messages.length > 0) this.#listener.onMessages(messages);
      if (this.#running.length > 0) this.#wake();
    });
  }

  #takeEnding(): number[] {
    const all = this.#isShuffled ? shuffled(this.#running) : this.#running;
    this.#running = this.#isShuffled ? all.splice(Math.ceil(all.length / 2)) : [];
    return all;
  }
}

const failEvery = Number(values['fail-every']);
let ended = 0;

const nothing = { bytes: 0, tail: '' };
function endOf(key: number): FromSpawner {
  const common = { t: 'ended', key, cpuMs: 0, wallMs: 0, at: clock.now(), out: nothing } as const;
  if (key < 0 || failEvery === 0 || ++ended % failEvery !== 0) return { ...common, exit: 0, err: nothing };
  const { how, stderr } = failureOf(ended / failEvery);
  return { ...common, ...how, err: { bytes: stderr.length, tail: Buffer.from(stderr).toString('base64') } };
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const all = [...items];
  for (let at = all.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [all[at], all[other]] = [all[other] as Item, all[at] as Item];
  }
  return all;
}

function stamp(started: number): void {
  if (values.stamps === undefined || (started !== 1 && started % stampEvery !== 0)) return;
  appendFileSync(values.stamps, `${JSON.stringify({ started, at: Date.now(), monotonicMs: performance.now() })}\n`);
}

const complain = (facts: object, message: string): void =>
  void process.stderr.write(`${message} ${JSON.stringify(facts)}\n`);
const log: Log = { debug: () => {}, info: () => {}, warn: complain, error: complain };

mkdirSync(values.directory, { recursive: true });
const instance = `${Math.round(uptimeMs())}-${randomUUID().slice(0, 8)}`;
const worker = new WorkerShell(
  {
    clock,
    net: webSocketNet,
    log,
    files: nodeOutputFiles,
    random: Math.random,
    address: () => {
      const access = readAccessFile(values.access);
      return access === undefined ? undefined : { url: access.url, token: access.tokens.worker };
    },
    startSpawner: (listener) => new IdleSpawner(listener, values.shuffle),
    onConnection: () => {},
    exit: (_, sayGoodbye) => {
      sayGoodbye();
      setTimeout(() => process.exit(0), goodbyeMs);
    },
  },
  {
    identity: { shard: 'bench/idle', lock: instance, instance, host: hostname(), pid: process.pid },
    slots: Number(values.slots),
    directory: values.directory,
    tag: values.directory,
    now: clock.now(),
    isPatient: true,
    environment: [],
  },
);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => worker.stop());
