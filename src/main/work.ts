/** `drover worker`: a worker in the foreground, for the controller of a folder or of an access file. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { WorkOptions } from '../cli/programs.ts';
import { DroverError } from '../model/errors.ts';
import { accessPath, readAccessFile } from '../platform/node/access-file.ts';
import { slotsNote } from '../platform/node/descriptors.ts';
import { openLog } from '../platform/node/log.ts';
import { capacityHere } from '../platform/node/machine.ts';
import type { WorkerEnd } from '../worker/messages.ts';
import type { Connection } from '../worker/shell.ts';
import { broughtToken } from './brought-token.ts';
import { findDirectory } from './folder.ts';
import { startWorker, workerExitCodes } from './worker-process.ts';

/** Workers of one machine for one controller. */
const workersMax = 64;
const lockWaitMs = 5_000;

export async function work(
  { dir, access, slots, capacity, untilMs, shard, logLevel }: WorkOptions,
  onReady: (directory: string) => void,
): Promise<number> {
  // What is wrong with it is said now, not at each try to connect.
  broughtToken();
  const file = access === undefined ? accessPath(findDirectory(dir)) : resolve(access);
  const found = readAccessFile(file);
  if (access !== undefined && found === undefined) {
    throw new DroverError('bad-input', `${file} is not an access file`, {
      hint: "copy .drover/access.json from the machine where 'drover server' runs",
    });
  }
  if (found === undefined && !existsSync(findDirectory(dir))) {
    throw new DroverError('controller-unreachable', `there is no access file ${file}`, {
      hint: "start a controller with 'drover server', or name an access file with --access",
    });
  }
  // Beside the access file where that is a folder of ours; else in a place of this user's, by what a controller keeps when
  // it comes back at another address: the next worker has to find the lock of the last one, and what that left alive.
  const base = access === undefined ? join(findDirectory(dir), 'workers') : placeFor(found?.tokens.worker ?? file);
  const ended = Promise.withResolvers<number>();
  const directories = Array.from({ length: workersMax }, (_, n) => join(base, String(n)));
  const news = new News(file);
  const endsAt = untilMs === undefined ? undefined : Date.now() + untilMs;
  const worker = await startWorker({
    capacity: { ...capacityHere(capacity), ...(endsAt === undefined ? {} : { endsAt }) },
    ...{ access: file, token: broughtToken, slots, directories, lockWaitMs, isStanding: true },
    ...(shard === undefined ? {} : { shard }),
    openLog: (directory) => openLog(`${directory}.log`, 'worker', logLevel),
    onConnection: (connection) => {
      news.onConnection(connection);
      if (news.refusal !== undefined) worker.stop();
    },
    onComeBack: (end, why) => news.onComeBack(end, why),
    onEnd: (end, why) => {
      if (news.refusal !== undefined) return ended.reject(news.refusal);
      if (end === 'incompatible') return ended.reject(new DroverError('protocol-version', why));
      say(`the worker ends: ${why}`);
      ended.resolve(workerExitCodes[end]);
    },
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => worker.stop());
  if (endsAt !== undefined) stopAt(endsAt, () => worker.stop());
  const note = slotsNote(slots);
  if (note !== undefined) say(note);
  onReady(worker.directory);
  return ended.promise;
}

/** A timer does not wait for longer than some weeks. */
function stopAt(endsAt: number, stop: () => void): void {
  const leftMs = endsAt - Date.now();
  if (leftMs <= 0) return stop();
  setTimeout(() => stopAt(endsAt, stop), Math.min(leftMs, 86_400_000)).unref();
}

const say = (text: string): void => {
  process.stderr.write(`drover: ${text}\n`);
};

function placeFor(controller: string): string {
  const state = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
  return join(state, 'drover', 'workers', createHash('sha256').update(controller).digest('hex').slice(0, 16));
}

/** What whoever sits before the worker learns of its connection: once for each change. Each try is in the log. */
class News {
  readonly #file: string;
  #last: string | undefined;
  #lastRefusal: string | undefined;
  #wasOpen = false;
  /** Set when it makes no sense to try on: the access file was wrong from the first. */
  refusal: DroverError | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  onConnection(connection: Connection): void {
    if (connection.state === 'open') {
      this.#wasOpen = true;
      this.#tell(`connected to the controller at ${connection.url}`);
    } else this.#onAway(connection.why);
  }

  /** A worker that stands by for its shard is refused over and over. */
  onComeBack(end: WorkerEnd, why: string): void {
    if (end !== 'refused') say(`${why}; what ran here was killed, and the worker waits for a controller`);
    else if (why !== this.#lastRefusal) say(`${why}; what ran here was killed, and the worker tries again`);
    this.#lastRefusal = end === 'refused' ? why : undefined;
  }

  #onAway(why: string): void {
    const refused = refusalOf(why);
    if (refused !== undefined && !this.#wasOpen) {
      this.refusal = new DroverError('not-authorised', `the controller ${refused} ${this.#file}`, { hint: copyAgain });
    } else if (refused !== undefined) {
      this.#tell(`the controller ${refused} ${this.#file}; ${copyAgain}; the file is read again before each try`);
    } else this.#tell(`no connection to the controller: ${why}; trying again`);
  }

  #tell(text: string): void {
    if (text !== this.#last) say(text);
    this.#last = text;
  }
}

const copyAgain = 'copy the access file from the machine of the controller again';

function refusalOf(why: string): string | undefined {
  if (/ 40[13]$/.test(why)) return 'refuses the token of';
  return /certificate/.test(why) ? 'has another certificate than the one in' : undefined;
}
