/** `--install`: the peers, into `.bench/`: a Python environment and an npm prefix; and with apt where that may be used. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, npmFolder, toolsFolder, venvFolder } from './tools.ts';

/** Program → the Debian package that has it. */
const debian = {
  gcc: 'gcc',
  xargs: 'findutils',
  parallel: 'parallel',
  python3: 'python3-venv',
  initdb: 'postgresql',
  'redis-server': 'redis-server',
} as const;
const python = ['disbatch', 'hyperqueue', 'dask[distributed]'];
/**
 * Each with older ones to fall back on: the newest release of a package may need one that its registry does not have yet.
 * ioredis is what BullMQ talks to Redis with, and leaves to its users to install.
 */
const node = [['graphile-worker'], ['pg-boss', 'pg-boss@~12.33.0', 'pg-boss@10'], ['bullmq'], ['ioredis']] as const;

type Say = (text: string) => void;

/** Goes on after a failure: one peer less is no reason to have none. Returns the exit code. */
export function install(say: Say): number {
  mkdirSync(npmFolder, { recursive: true });
  const isDone = [installDebian(say), installPython(say), installNode(say)];
  say(isDone.every(Boolean) ? 'all peers are installed' : 'some peers are missing: see above');
  return isDone.every(Boolean) ? 0 : 1;
}

function installDebian(say: Say): boolean {
  const wanted = Object.entries(debian).filter(([program]) => findProgram(program) === undefined);
  if (wanted.length === 0) return true;
  const names = wanted.map(([, name]) => name);
  if (process.getuid?.() !== 0 || findProgram('apt-get') === undefined) {
    say(`as root: apt-get install -y ${names.join(' ')}`);
    return false;
  }
  // Debian starts the servers that it installs; the bench has its own, for as long as it measures.
  const quiet = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  run(say, 'apt-get', ['update', '-qq'], quiet);
  return run(say, 'apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...names], quiet);
}

function installPython(say: Say): boolean {
  const pip = join(venvFolder, 'bin', 'pip');
  if (!existsSync(pip) && !run(say, 'python3', ['-m', 'venv', venvFolder])) return false;
  // One by one: a peer that has no build for this machine must not keep the others away.
  return python.map((name) => run(say, pip, ['install', '-q', '--disable-pip-version-check', name])).every(Boolean);
}

function installNode(say: Say): boolean {
  const file = join(npmFolder, 'package.json');
  if (!existsSync(file)) writeFileSync(file, '{ "private": true }\n');
  const flags = ['--prefix', npmFolder, '--loglevel=error', '--no-audit', '--no-fund'];
  return node
    .map((releases) => releases.some((release) => run(say, 'npm', ['install', ...flags, release])))
    .every(Boolean);
}

function run(say: Say, command: string, words: readonly string[], env: Readonly<Record<string, string>> = {}): boolean {
  say(`${command} ${words.join(' ')}`);
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd: toolsFolder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return true;
  say(`  failed: ${error?.message ?? `${stdout}${stderr}`.trim().slice(-1_000)}`);
  return false;
}
