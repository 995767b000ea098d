/** `drover worker`: a worker in the foreground, for the controller of a folder or of an access file. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { WorkOptions } from '../cli/programs.ts';
import { DroverError } from '../model/errors.ts';
import type { Log } from '../platform/env.ts';
import { accessPath, readAccessFile } from '../platform/node/access-file.ts';
import { openLog } from '../platform/node/log.ts';
import { findDirectory } from './folder.ts';
import { startWorker } from './worker-process.ts';

/** Workers of one machine for one controller. */
const workersMax = 64;
const lockWaitMs = 5_000;

export async function work({ dir, access, slots }: WorkOptions, onReady: (directory: string) => void): Promise<number> {
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
  // Beside the access file where that is a folder of ours; else in a place of this user's, by the controller's address.
  const base = access === undefined ? join(findDirectory(dir), 'workers') : placeFor(found?.url ?? file);
  const log = alsoToPeople(openLog(join(base, 'worker.log'), 'worker'));
  let end: (code: number) => void = () => {};
  const ended = new Promise<number>((done) => {
    end = done;
  });
  const directories = Array.from({ length: workersMax }, (_, n) => join(base, String(n)));
  const onEnd = (code: number, why: string): void => {
    process.stderr.write(`drover: the worker ends: ${why}\n`);
    end(code);
  };
  const worker = await startWorker({ access: file, slots, log, directories, lockWaitMs, onEnd });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => worker.stop());
  onReady(worker.directory);
  return ended;
}

function placeFor(url: string): string {
  const state = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
  return join(state, 'drover', 'workers', createHash('sha256').update(url).digest('hex').slice(0, 16));
}

/** Whoever sits before it sees why it is not connected, once for each reason; each try is in the log. */
function alsoToPeople(log: Log): Log {
  let last: unknown;
  return {
    info: (facts, message) => {
      log.info(facts, message);
      const why = 'why' in facts && 'delayMs' in facts ? facts.why : undefined;
      if (why === undefined || why === last) return;
      last = why;
      process.stderr.write(`drover: no connection to the controller: ${reasonOf(String(why))}; trying again\n`);
    },
    warn: (facts, message) => log.warn(facts, message),
    error: (facts, message) => {
      log.error(facts, message);
      process.stderr.write(`drover: ${message}\n`);
    },
  };
}

const reasonOf = (why: string): string =>
  why.endsWith(' 401') ? 'it refuses the token of this access file, which is not the one of its last start' : why;
