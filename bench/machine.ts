/** Where and what was measured: a ratio without it can't be repeated. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { root } from './tools.ts';

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGB: number;
  readonly kernel: string;
  readonly node: string;
  readonly drover: string;
  readonly commit: string;
  /** Of the folder in which stores lie while they are measured: on a tmpfs a sync costs nothing. */
  readonly fileSystem: string;
  readonly store: string;
  /** At the beginning: on a busy machine the figures are worth little. */
  readonly loadBefore: number;
}

export function describeMachine(folder: string): Machine {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    node: process.version,
    drover: version,
    commit: commitOf(),
    fileSystem: said('stat', '-f', '-c', '%T', folder) ?? 'unknown',
    store: storeSettings(),
    loadBefore: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

/** With `-dirty` where files differ from it. */
export function commitOf(): string {
  const commit = said('git', 'rev-parse', '--short', 'HEAD') ?? 'no-commit';
  const changed = said('git', 'status', '--porcelain', '--untracked-files=no', '--', ':!bench/results') ?? '';
  return changed === '' ? commit : `${commit}-dirty`;
}

/** As the store sets them, read from its source: they can't be asked of another process's connection. */
function storeSettings(): string {
  const source = readFileSync(join(root, 'src', 'store', 'sqlite', 'store.ts'), 'utf8');
  const pragma = (name: string): string => new RegExp(`PRAGMA ${name} = (\\w+)`).exec(source)?.[1] ?? 'unknown';
  return `SQLite, journal_mode ${pragma('journal_mode')}, synchronous ${pragma('synchronous')}`;
}

function said(command: string, ...words: string[]): string | undefined {
  try {
    return execFileSync(command, words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

export function renderMachine(machine: Machine): string {
  const { cpu, cores, memoryGB, kernel, node, fileSystem, store, loadBefore } = machine;
  return [
    `Drover ${machine.drover} (${machine.commit}), Node ${node}, ${store}`,
    `${cpu}, ${cores} cores, ${memoryGB} GB, ${kernel}, stores on ${fileSystem}, load before: ${loadBefore}`,
  ].join('\n');
}
