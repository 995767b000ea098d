/** Runs the real program, as a user would, in a folder of its own; looks at real processes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const launcher = resolve(import.meta.dirname, '..', '..', 'drover');

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  stdout(): string;
  stderr(): string;
}

export interface StartOptions {
  readonly input?: string;
  readonly env?: Record<string, string>;
  /** A program that runs the launcher, with its arguments, such as `nsenter`. */
  readonly via?: readonly string[];
  /** Instead of the launcher. */
  readonly program?: readonly string[];
}

export interface Place {
  readonly path: string;
  run(args: readonly string[], options?: StartOptions): Promise<Ended>;
  start(args: readonly string[], input?: string, options?: StartOptions): Running;
  /** The last line of what was printed, as JSON. */
  json(args: readonly string[]): Promise<Record<string, unknown>>;
  remove(): void;
}

function startIn(
  cwd: string,
  args: readonly string[],
  { input = '', env = {}, via = [], program = [launcher] }: StartOptions = {},
): Running {
  const [first = launcher, ...words] = [...via, ...program, ...args];
  // A session of its own, as a terminal's foreground job has: signals to it are not for the tests.
  const child = spawn(first, words, { cwd, env: { ...process.env, ...env }, detached: true });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, stdout, stderr })));
  return { child, pid: child.pid ?? 0, ended, stdout: () => stdout, stderr: () => stderr };
}

export const lastJson = (text: string): Record<string, unknown> =>
  JSON.parse(text.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;

export function place(): Place {
  const path = mkdtempSync(join(tmpdir(), 'drover-test-'));
  const started: Running[] = [];
  return {
    path,
    run: (args, options) => startIn(path, args, options).ended,
    start: (args, input = '', options = {}) => {
      const running = startIn(path, args, { ...options, input });
      started.push(running);
      return running;
    },
    json: async (args) => lastJson((await startIn(path, args).ended).stdout),
    remove: () => {
      for (const { child } of started) child.kill('SIGKILL');
      for (const pid of workersOf(path)) process.kill(pid, 'SIGKILL');
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** Waits for a condition, not for a time; the limit is there only to fail. */
export async function until<T>(what: string, look: () => T | undefined | false, msMax = 20_000): Promise<T> {
  const deadline = performance.now() + msMax;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited ${msMax} ms in vain for: ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

const readQuietly = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

/** Processes by their command line. Zombies have none. */
function processes(isWanted: (words: string[]) => boolean): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => isWanted(readQuietly(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)))
    .map(Number);
}

const isProgram = (words: string[], name: string): boolean => words.some((word) => word.endsWith(`.bundle/${name}.js`));

/** The workers that serve a folder, or wait for their turn to. */
export const workersOf = (path: string): number[] =>
  processes((words) => isProgram(words, 'worker') && words.some((word) => word.startsWith(path)));

/** The spawner is the only child of its worker. */
export function spawnersOf(path: string): number[] {
  return workersOf(path).flatMap((pid) =>
    readQuietly(`/proc/${pid}/task/${pid}/children`).trim().split(' ').filter(Boolean).map(Number),
  );
}

/** Workers and their spawners. */
export const processesOf = (path: string): number[] => [...workersOf(path), ...spawnersOf(path)];

/** A duration that nobody else sleeps, so that a process can be told by it. */
let marks = 0;
export const mark = (): string => `97${process.pid}.${++marks}`;

export const sleepers = (duration: string): number[] =>
  processes((words) => words.length === 2 && words[0] === 'sleep' && words[1] === duration);
