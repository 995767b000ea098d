/** A worker in this process: takes a host lock, reaps what an earlier holder left, then serves the controller of an access file. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { DroverError } from '../model/errors.ts';
import { shardBytesMax } from '../model/limits.ts';
import type { Clock, LinkAddress, Log } from '../platform/env.ts';
import { readAccessFile, urlsOf } from '../platform/node/access-file.ts';
import { realClock, uptimeMs } from '../platform/node/clock.ts';
import { slotsWithin } from '../platform/node/descriptors.ts';
import { GpuWatch } from '../platform/node/gpu-watch.ts';
import { type HostLock, takeHostLock } from '../platform/node/host-lock.ts';
import { type Libc, loadLibc } from '../platform/node/libc.ts';
import { type CgroupPlace, claimMemoryCgroup, removeCgroup } from '../platform/node/memory-cgroup.ts';
import { nodeOutputFiles } from '../platform/node/output-files.ts';
import { reapTagged } from '../platform/node/process-tree.ts';
import { siblingScript } from '../platform/node/scripts.ts';
import { webSocketNet } from '../platform/node/sockets.ts';
import { SpawnerProcess } from '../platform/node/spawner-process.ts';
import { gpusVariable, isInherited, reapVariable } from '../protocol/task-environment.ts';
import type { WorkerCapacity } from '../protocol/worker.ts';
import { gpuNamesOf } from '../worker/admission.ts';
import type { WorkerEnd } from '../worker/messages.ts';
import { type Connection, WorkerShell, type WorkerWorld } from '../worker/shell.ts';
import { SpawnerPool } from '../worker/spawner-pool.ts';

/** A spawner that has not ended by itself this long after the last grace is killed. */
const endMarginMs = 1_500;
/** For the goodbye to leave the process. */
const goodbyeMs = 20;
/** One that its controller sent away comes back no sooner: that controller is about to end. */
const comeBackMs = 1_000;
/** Nor does one that was refused: who has its shard is likely to keep it, and each try costs a process. */
const refusedMs = 5_000;

/** By which whoever started the process tells how it ended. */
export const workerExitCodes = {
  stopped: 0,
  dismissed: 0,
  'cut-off': 1,
  incompatible: 1,
  refused: 3,
  locked: 4,
  unstartable: 5,
} as const;

export interface WorkerProcessOptions {
  readonly access: string;
  /** In the place of the access file's. */
  readonly token?: () => string | undefined;
  readonly slots: number;
  /** What it has besides. Of its GPUs it hands out those of its own `CUDA_VISIBLE_DEVICES`, where that is set. */
  readonly capacity?: WorkerCapacity;
  readonly shard?: string;
  /** For the worker of that directory. */
  openLog(directory: string): Log;
  /** Directories of which it takes the first whose lock is free, waiting that long for the last of them. */
  readonly directories: readonly string[];
  readonly lockWaitMs: number;
  /** Whether it comes back as a new instance when it was cut off, sent away or given up, and waits for a controller. */
  readonly isStanding: boolean;
  onConnection(connection: Connection): void;
  /** All that the instance ran is dead; the next one begins. */
  onComeBack(end: WorkerEnd, why: string): void;
  onEnd(end: WorkerEnd, why: string): void;
}

interface Means {
  readonly clock: Clock;
  readonly libc: Libc | undefined;
  readonly log: Log;
  readonly directory: string;
  readonly lock: HostLock | undefined;
  /** Where the memory of tasks can be limited by the kernel. */
  readonly cgroups: CgroupPlace | undefined;
}

export async function startWorker(options: WorkerProcessOptions): Promise<WorkerProcess> {
  const libc = loadLibc();
  libc?.becomeSubreaper();
  const locked = await lockDirectory(libc, options);
  const log = options.openLog(locked.directory);
  if (libc === undefined) log.warn({}, 'koffi has no binary here: slower starts, and daemons of tasks may survive');
  const cgroups = claimMemoryCgroup();
  return new WorkerProcess(options, { clock: realClock(), libc, log, cgroups, ...locked });
}

/**
 * Owns: the host lock, and one instance of a worker after the other.
 * 1. An instance begins only when all that the one before it ran is dead.
 */
export class WorkerProcess {
  readonly #options: WorkerProcessOptions;
  readonly #means: Means;
  #shell: WorkerShell | undefined;
  #spawners: SpawnerPool<SpawnerProcess> | undefined;
  readonly #gpus: GpuWatch;
  #isStopping = false;
  /** Tries so far: a controller that is reached at several addresses is tried at each in turn. */
  #failures = 0;

  constructor(options: WorkerProcessOptions, means: Means) {
    this.#options = options;
    this.#means = means;
    this.#gpus = new GpuWatch(means.log);
    this.#begin();
  }

  get directory(): string {
    return this.#means.directory;
  }

  stop(): void {
    this.#isStopping = true;
    if (this.#shell === undefined) this.#options.onEnd('stopped', 'it was told to stop');
    else this.#shell.stop();
  }

  #begin(): void {
    const { access, isStanding, capacity } = this.#options;
    const slots = slotsWithin(this.#options.slots);
    const { clock, log, directory } = this.#means;
    const reaped = reapTagged(`${reapVariable}=${directory}`);
    if (reaped > 0) log.warn({ reaped }, 'killed what an earlier worker had left running');
    cleanUp(directory);
    const now = clock.now();
    // By a clock that is never set back: of two that held a lock, the newer one has the higher number.
    const instance = `${Math.round(uptimeMs())}-${randomUUID().slice(0, 8)}`;
    const host = hostname();
    // Without a lock nothing proves the death of an older instance: then each has a lock of its own.
    const lock = this.#means.lock?.name ?? instance;
    const shard = this.#options.shard ?? `${host}/${directory}`.slice(-shardBytesMax);
    const identity = { shard, lock, instance, host, pid: process.pid };
    this.#shell = new WorkerShell(this.#world(slots), {
      ...{ identity, slots, directory, tag: directory, now, isPatient: isStanding, environment: ownEnvironment() },
      ...(capacity === undefined
        ? {}
        : { capacity, gpuNames: gpuNamesOf(capacity.gpus ?? 0, process.env[gpusVariable]) }),
    });
    log.info({ access, directory, slots, instance }, 'the worker is ready');
  }

  #world(slots: number): WorkerWorld {
    const { clock, libc, log, lock, cgroups } = this.#means;
    return {
      clock,
      net: webSocketNet,
      log,
      files: nodeOutputFiles,
      random: Math.random,
      address: () => this.#address(),
      onConnection: (connection) => {
        this.#failures = connection.state === 'open' ? this.#failures : this.#failures + 1;
        this.#options.onConnection(connection);
      },
      startSpawner: (listener) => {
        const script = siblingScript(import.meta.url, 'spawner');
        const options = { script, libc, lockFd: lock?.fd, siblings: new Set<number>(), cgroups };
        this.#spawners = new SpawnerPool(spawnerCount(slots), (own) => new SpawnerProcess(options, own), listener);
        return this.#spawners;
      },
      watchGpus: (onReadings) => this.#gpus.start(onReadings),
      exit: async ({ end, why, graceMs }, sayGoodbye) => {
        this.#spawners?.retire();
        await Promise.all((this.#spawners?.handles ?? []).map((each) => each.stop(graceMs, graceMs + endMarginMs)));
        sayGoodbye();
        cleanUp(this.#means.directory);
        this.#shell = undefined;
        setTimeout(() => this.#onExit(end, why), goodbyeMs);
      },
    };
  }

  #address(): LinkAddress | undefined {
    const found = readAccessFile(this.#options.access);
    if (found === undefined) return undefined;
    const { tokens, certificate } = found;
    const urls = urlsOf(found);
    const url = urls[this.#failures % urls.length] ?? found.url;
    return {
      url,
      token: this.#options.token?.() ?? tokens.worker,
      ...(certificate === undefined ? {} : { certificate }),
    };
  }

  #onExit(end: WorkerEnd, why: string): void {
    const isLast = this.#isStopping || end === 'stopped' || end === 'incompatible' || !this.#options.isStanding;
    if (isLast) {
      if (this.#means.cgroups !== undefined) removeCgroup(this.#means.cgroups.path);
      return this.#options.onEnd(end, why);
    }
    this.#options.onComeBack(end, why);
    const pauseMs = end === 'cut-off' ? 0 : end === 'refused' ? refusedMs : comeBackMs;
    setTimeout(() => !this.#isStopping && this.#begin(), pauseMs);
  }
}

/** One stands still while a process begins, which is half of what a short one costs: with one alone a core would idle. */
const coresPerSpawner = 2;
const spawnersMax = 16;
/** With fewer slots each, they are not what a task waits for. */
const slotsPerSpawner = 2;

/** `DROVER_SPAWNERS` is there to try another number. */
function spawnerCount(slots: number): number {
  const wanted = Number(process.env.DROVER_SPAWNERS);
  if (Number.isInteger(wanted) && wanted > 0) return Math.min(spawnersMax, slots, wanted);
  const cores = availableParallelism();
  const usual = Math.max(Math.min(2, cores), Math.ceil(cores / coresPerSpawner));
  return Math.min(spawnersMax, Math.ceil(slots / slotsPerSpawner), usual);
}

const ownEnvironment = (): string[] =>
  Object.entries(process.env)
    .filter(([name]) => isInherited(name))
    .map(([name, value]) => `${name}=${value}`);

async function lockDirectory(
  libc: Libc | undefined,
  { directories, lockWaitMs }: WorkerProcessOptions,
): Promise<{ directory: string; lock: HostLock | undefined }> {
  const [first] = directories;
  if (libc === undefined) return { directory: first ?? '', lock: undefined };
  for (const [at, directory] of directories.entries()) {
    const lock = await takeHostLock(libc, directory, at === directories.length - 1 ? lockWaitMs : 0);
    if (lock !== undefined) return { directory, lock };
  }
  throw new DroverError('worker-not-starting', `another worker holds ${directories.at(-1)}`, {
    hint: 'stop that one first, or name another directory',
  });
}

/** Segments and scratch of an earlier instance, or in the end: what the controller had not taken of them is gone with it. */
function cleanUp(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(directory)) {
    if (name !== 'lock') rmSync(join(directory, name), { recursive: true, force: true });
  }
}
