/**
 * One server and some workers as real processes in a folder of their own, which can be killed and are started again.
 * Owns: the processes, and the record of what was killed when. Whoever ends unasked is noted as a fault, and replaced.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Phase } from '../../src/controller/phases.ts';
import { readAccessFile } from '../../src/platform/node/access-file.ts';
import { pinnedFetch } from '../../src/platform/node/pinned-fetch.ts';
import { Client } from '../../src/sdk/client.ts';
import { childrenOf, type Ended, type Running, readQuietly, startIn, until } from '../program/drover.ts';
import type { Network } from './network/network.ts';
import { PhaseLog } from './phase-log.ts';

export interface Victim {
  readonly pid: number;
  /** Its worker's, or its own. */
  readonly workerPid?: number;
}

export interface Kill {
  readonly target: string;
  /** Of the controller: what it said last when it was dead or, if it lives on, when the others were killed. */
  readonly phase: Phase | 'starting';
  readonly at: number;
  readonly victims: readonly Victim[];
}

const readyMsMax = 30_000;

export class Herd {
  readonly folder = mkdtempSync(join(tmpdir(), 'drover-chaos-'));
  readonly log = new PhaseLog(join(this.folder, '.drover', 'logs', 'controller.log'));
  readonly kills: Kill[] = [];
  readonly faults: string[] = [];
  readonly #slots: number;
  readonly #network: Network | undefined;
  readonly #positions = new Map<number, number>();
  readonly #workers: Running[] = [];
  readonly #doomed = new Set<Running>();
  #server: Running | undefined;
  #isClosing = false;

  constructor(slots: number, network?: Network) {
    this.#slots = slots;
    this.#network = network;
  }

  async start(workers: number): Promise<void> {
    this.startServer();
    await this.ready();
    for (let at = 0; at < workers; at++) this.#startWorker(at);
  }

  get serverPid(): number {
    return this.#server?.pid ?? 0;
  }

  get workerPids(): number[] {
    return this.#workers.map(({ pid }) => pid);
  }

  /** Which of the workers a process is or was, from 0. */
  positionOf(workerPid: number): number | undefined {
    return this.#positions.get(workerPid);
  }

  /** Runs the real command in the folder. */
  run(args: readonly string[], input = ''): Promise<Ended> {
    return startIn(this.folder, args, { input }).ended;
  }

  /** Started, not waited for. */
  begin(args: readonly string[], input = ''): Running {
    return startIn(this.folder, args, { input });
  }

  /** Of the controller that is there now. */
  client(): Client | undefined {
    const access = readAccessFile(this.#accessPath);
    if (access === undefined) return undefined;
    const { url, certificate, tokens } = access;
    const pinned = certificate === undefined ? {} : { fetch: pinnedFetch(certificate) };
    return new Client({ url, token: tokens.admin, ...pinned });
  }

  async ready(): Promise<void> {
    await until('the server is ready', () => this.#server?.stdout().includes('\n'), readyMsMax);
  }

  startServer(): void {
    const listen = this.#network?.listen;
    const where = listen === undefined ? [] : ['--listen', listen];
    this.#server = this.#start(['server', '--json', '--preset', 'interactive', ...where], {}, (ended) => {
      this.faults.push(`the server ended by itself: ${JSON.stringify(ended)}`);
      this.startServer();
    });
  }

  /** All at once; then what was killed is started again, the server first. */
  async strike(target: string, victims: readonly Victim[]): Promise<void> {
    const struck = [this.#server, ...this.#workers].filter((running) => running !== undefined);
    const dead = struck.filter((running) => isAmong(victims, running)).map((running) => this.#doom(running));
    const controller = this.serverPid;
    const at = Date.now();
    // Several are stopped first: none of them gets to see the death of another, and to act on it.
    if (victims.length > 1) for (const { pid } of victims) signal(pid, 'SIGSTOP');
    for (const { pid } of victims) signal(pid, 'SIGKILL');
    const then = this.log.lastOf(controller);
    await Promise.all(dead);
    const phase = isAmong(victims, this.#server) ? this.log.lastOf(controller) : then;
    this.kills.push({ target, phase: phase ?? 'starting', at, victims });
    if (isAmong(victims, this.#server)) this.startServer();
    this.#workers.forEach((running, at) => {
      if (isAmong(victims, running)) this.#startWorker(at);
    });
  }

  /** Politely; resolves when server and workers have ended. */
  async stop(): Promise<void> {
    this.#isClosing = true;
    for (const { child } of this.#workers) child.kill('SIGTERM');
    await Promise.all(this.#workers.map(({ ended }) => ended));
    this.#server?.child.kill('SIGTERM');
    await this.#server?.ended;
    this.log.close();
  }

  /** When the test itself fails: nothing is left running, and the folder stays. */
  abandon(): void {
    this.#isClosing = true;
    for (const running of [this.#server, ...this.#workers]) if (running !== undefined) signal(running.pid, 'SIGKILL');
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Resolves when the process is dead, whoever still holds its output: a spawner may be about to end its tasks. */
  #doom(running: Running): Promise<unknown> {
    this.#doomed.add(running);
    const { child } = running;
    return child.exitCode === null && child.signalCode === null ? once(child, 'exit') : Promise.resolve();
  }

  get #accessPath(): string {
    return join(this.folder, '.drover', 'access.json');
  }

  #startWorker(at: number): void {
    const access = this.#accessFor(at);
    const words = ['worker', '-j', String(this.#slots), ...(access === undefined ? [] : ['--access', access])];
    const options = { via: this.#network?.paths[at]?.via ?? [], state: join(this.folder, 'state', String(at)) };
    const running = this.#start(words, options, (ended) => {
      this.faults.push(`a worker ended by itself: ${JSON.stringify(ended)}`);
      this.#startWorker(at);
    });
    this.#workers[at] = running;
    this.#positions.set(running.pid, at);
  }

  /**
   * With a network, a copy of the access file that leads over the worker's own path. Without, every second one is as on
   * another machine: it knows only the access file, and keeps its things elsewhere.
   */
  #accessFor(at: number): string | undefined {
    const path = this.#network?.paths[at];
    if (path === undefined) return at % 2 === 0 ? undefined : join('.drover', 'access.json');
    const copy = join(this.folder, `access-${at}.json`);
    const access = readAccessFile(this.#accessPath);
    const url = path.open(() => readAccessFile(this.#accessPath)?.url);
    // While the server is being started again there is none to copy; the last copy is as good.
    if (access !== undefined) writeFileSync(copy, JSON.stringify({ ...access, url, otherUrls: [] }), { mode: 0o600 });
    return copy;
  }

  #start(
    args: readonly string[],
    { via = [], state = this.folder }: { readonly via?: readonly string[]; readonly state?: string },
    onUnasked: (ended: Ended) => void,
  ): Running {
    const env = { DROVER_LOG_LEVEL: 'debug', XDG_STATE_HOME: state };
    const running = startIn(this.folder, args, { env, via });
    void running.ended.then((ended) => {
      if (!this.#isClosing && !this.#doomed.has(running)) onUnasked(ended);
    });
    return running;
  }
}

const isAmong = (victims: readonly Victim[], running: Running | undefined): boolean =>
  victims.some(({ pid }) => pid === running?.pid);

export function signal(pid: number, which: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  try {
    process.kill(pid, which);
  } catch {
    // It was dead already: that counts as well.
  }
}

/** Undefined while a worker has none yet. */
export const spawnerOf = (workerPid: number): number | undefined =>
  childrenOf(workerPid).find((pid) => readQuietly(`/proc/${pid}/cmdline`).includes('spawner.js'));

/** Processes of tasks of a folder, or with `all` everything that works in it. */
export function aliveIn(folder: string, what: 'tasks' | 'all'): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isTask = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`DROVER_REAP=${folder}`);
      const isHere = what === 'all' && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      // A zombie has no command line any more.
      if ((isTask || isHere) && command !== '') found.push(`${pid} ${command}`);
    } catch {
      // Gone meanwhile, or not ours.
    }
  }
  return found;
}
