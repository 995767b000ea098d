/**
 * Where measurements are made. Owns: one temporary folder, and every process that was started.
 * 1. After `cleanUp` none of its processes runs, and the folder is gone: also after Ctrl-C.
 * 2. Each process leads a group of its own: Ctrl-C reaches the bench alone, which then ends them in order.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

/** For one that was told to end, before it is killed with its group. */
const endMsMax = 10_000;
/** Of a complaint: its first and its last words, where some programs say what is wrong, and others. */
const messageCharsMax = { first: 300, last: 300 } as const;

export interface User {
  readonly uid: number;
  readonly gid: number;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A file that it reads. */
  readonly stdin?: string;
  /** Whom it runs as, if not as the bench itself. */
  readonly user?: User;
}

export interface Running {
  readonly name: string;
  readonly pid: number;
  readonly stdoutPath: string;
  readonly stderrPath: string;
  /** Rejects when it could not be started. */
  readonly exited: Promise<number | string>;
  readonly child: ChildProcess;
}

export interface Finished {
  readonly seconds: number;
  readonly stdout: string;
}

export class Workshop {
  readonly folder: string;
  readonly #running = new Set<Running>();
  #count = 0;
  #isClosing = false;

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'drover-bench-'));
    // A database server that may not run as root has to reach what is its own in here.
    chmodSync(this.folder, 0o755);
  }

  /** An empty folder; `discard` it after a measurement, so that the next one meets the same disk. */
  scratch(): string {
    const path = join(this.folder, `m${++this.#count}`);
    mkdirSync(path);
    return path;
  }

  discard(folder: string): void {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** In the background, until `stop`. */
  start(command: string, words: readonly string[], options: StartOptions = {}): Running {
    if (this.#isClosing) throw new Error('the bench is ending');
    const base = join(this.folder, `p${++this.#count}`);
    const stdin = openSync(options.stdin ?? '/dev/null', 'r');
    const [stdout, stderr] = [openSync(`${base}.out`, 'w'), openSync(`${base}.err`, 'w')];
    const child = spawn(command, words, {
      stdio: [stdin, stdout, stderr],
      cwd: options.cwd ?? this.folder,
      env: { ...ownEnvironment(), ...options.env },
      detached: true,
      ...options.user,
    });
    for (const fd of [stdin, stdout, stderr]) closeSync(fd);
    const exited = new Promise<number | string>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve(code ?? signal ?? 'no status'));
    });
    const name = [command, ...words]
      .map((word) => basename(word))
      .join(' ')
      .slice(0, 100);
    const running = {
      ...{ name, pid: child.pid ?? 0, child, exited },
      ...{ stdoutPath: `${base}.out`, stderrPath: `${base}.err` },
    };
    this.#running.add(running);
    // Whoever waits for it hears of a failure; nobody has to.
    exited.catch(() => {}).finally(() => this.#running.delete(running));
    return running;
  }

  /** Until it ends, and well. */
  async run(command: string, words: readonly string[], options: StartOptions = {}): Promise<Finished> {
    const begin = performance.now();
    const running = this.start(command, words, options);
    const status = await running.exited;
    const seconds = (performance.now() - begin) / 1_000;
    if (status !== 0) throw new Error(`${running.name}: ended with ${status}: ${lastWords(running)}`);
    const stdout = readFileSync(running.stdoutPath, 'utf8');
    for (const path of [running.stdoutPath, running.stderrPath]) rmSync(path, { force: true });
    return { seconds, stdout };
  }

  async stop(running: Running, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    running.child.kill(signal);
    const timer = setTimeout(() => killGroup(running.pid), endMsMax);
    await running.exited.catch(() => {});
    clearTimeout(timer);
    // What it left behind in its group, such as a worker of a peer.
    killGroup(running.pid);
  }

  /** Ends and removes what a measurement that failed has left. */
  async clear(): Promise<void> {
    await Promise.all([...this.#running].map((running) => this.stop(running)));
    for (const name of readdirSync(this.folder)) this.discard(join(this.folder, name));
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  async cleanUp(): Promise<void> {
    this.#isClosing = true;
    await this.clear();
    this.discard(this.folder);
  }
}

/** The end of what it complained of. */
export function lastWords({ stdoutPath, stderrPath }: Pick<Running, 'stdoutPath' | 'stderrPath'>): string {
  const [err = '', out = ''] = [stderrPath, stdoutPath].map((path) => readFileSync(path, 'utf8').trim());
  return cutShort((err || out || 'it said nothing').replaceAll(clone, '.'));
}

/** Reports are kept, and read elsewhere: where the clone lay is nobody's business there. */
const clone = resolve(import.meta.dirname, '..');

function cutShort(text: string): string {
  const { first, last } = messageCharsMax;
  return text.length <= first + last ? text : `${text.slice(0, first)} … ${text.slice(-last)}`;
}

function killGroup(pid: number): void {
  if (pid === 0) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}

/** Settings of a Drover or Node around the bench would change what is measured. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !/^(DROVER_|NODE_OPTIONS$|npm_)/.test(name));
  return Object.fromEntries(others);
}
