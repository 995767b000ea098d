/** A worker in this process: takes a host lock, reaps what an earlier holder left, then serves the controller of an access file. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DroverError } from '../model/errors.ts';
import type { Log } from '../platform/env.ts';
import { readAccessFile } from '../platform/node/access-file.ts';
import { realClock } from '../platform/node/clock.ts';
import { takeHostLock } from '../platform/node/host-lock.ts';
import { type Libc, loadLibc } from '../platform/node/libc.ts';
import { nodeOutputFiles } from '../platform/node/output-files.ts';
import { reapTagged } from '../platform/node/process-tree.ts';
import { siblingScript } from '../platform/node/scripts.ts';
import { webSocketNet } from '../platform/node/sockets.ts';
import { SpawnerProcess } from '../platform/node/spawner-process.ts';
import { WorkerShell, type WorkerWorld } from '../worker/shell.ts';
import { reapVariable } from '../worker/task-environment.ts';

/** In its own end the worker gives tasks this long between TERM and KILL. */
const endGraceMs = 500;
const endMostMs = 2_000;
/** For the goodbye to leave the process. */
const goodbyeMs = 20;

export interface WorkerProcessOptions {
  readonly access: string;
  readonly slots: number;
  readonly log: Log;
  /** Directories of which it takes the first whose lock is free, waiting that long for the last of them. */
  readonly directories: readonly string[];
  readonly lockWaitMs: number;
  /** What it has to say to whoever started it, when it ends. */
  onEnd(code: number, why: string): void;
}

export interface WorkerProcess {
  readonly directory: string;
  stop(): void;
}

export async function startWorker(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const { log, access, slots } = options;
  const clock = realClock();
  const libc = loadLibc();
  if (libc === undefined) log.warn({}, 'koffi has no binary here: slower starts, and daemons of tasks may survive');
  libc?.becomeSubreaper();
  const { directory, lockFd } = await lockDirectory(libc, options);
  const reaped = reapTagged(`${reapVariable}=${directory}`);
  if (reaped > 0) log.warn({ reaped }, 'killed what an earlier worker had left running');
  cleanUp(directory);
  const instance = `${clock.now()}-${randomUUID().slice(0, 8)}`;
  const host = hostname();
  // Without a lock nothing proves the death of an older instance: then each has a lock of its own.
  const lock = libc === undefined ? instance : `${host}:${directory}`;
  const identity = { shard: `${host}/${directory}`.slice(-200), lock, instance, host, pid: process.pid };
  const world = worldOf(options, { clock, libc, lockFd });
  const shell = new WorkerShell(world, { identity, slots, directory, tag: directory, now: clock.now() });
  log.info({ access, directory, slots }, 'the worker is ready');
  return { directory, stop: () => shell.stop() };
}

interface Means {
  readonly clock: ReturnType<typeof realClock>;
  readonly libc: Libc | undefined;
  readonly lockFd: number | undefined;
}

function worldOf({ log, access, onEnd }: WorkerProcessOptions, { clock, libc, lockFd }: Means): WorkerWorld {
  let spawner: SpawnerProcess | undefined;
  return {
    clock,
    net: webSocketNet,
    log,
    files: nodeOutputFiles,
    random: Math.random,
    address: () => {
      const found = readAccessFile(access);
      if (found === undefined) return undefined;
      const certificate = found.certificate === undefined ? {} : { certificate: found.certificate };
      return { url: found.url, token: found.tokens.worker, ...certificate };
    },
    startSpawner: (listener) => {
      spawner = new SpawnerProcess({ script: siblingScript(import.meta.url, 'spawner'), libc, lockFd }, listener);
      return spawner;
    },
    exit: async (code, why, sayGoodbye) => {
      await spawner?.stop(endGraceMs, endMostMs);
      sayGoodbye();
      setTimeout(() => onEnd(code, why), goodbyeMs);
    },
  };
}

async function lockDirectory(
  libc: Libc | undefined,
  { directories, lockWaitMs }: WorkerProcessOptions,
): Promise<{ directory: string; lockFd: number | undefined }> {
  const [first] = directories;
  if (libc === undefined) return { directory: first ?? '', lockFd: undefined };
  for (const [at, directory] of directories.entries()) {
    const lock = await takeHostLock(libc, directory, at === directories.length - 1 ? lockWaitMs : 0);
    if (lock !== undefined) return { directory, lockFd: lock.fd };
  }
  throw new DroverError('worker-not-starting', `another worker holds ${directories.at(-1)}`, {
    hint: 'stop that one first, or name another directory',
  });
}

/** Segments and scratch of an earlier holder: what the controller had not taken of them is gone with it. */
function cleanUp(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) {
    if (name !== 'lock') rmSync(join(directory, name), { recursive: true, force: true });
  }
}
