/** What a command has done, as far as two runs of it can be compared. */

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry, Field } from './case.ts';

export type Outcome = {
  readonly exit?: number;
  readonly signal?: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** Of the working directory: path to what is there. */
  readonly files: Readonly<Record<string, string>>;
  /** Processes that outlived the main process and its grace. */
  readonly leftovers: number;
};

export type Difference = {
  readonly command: string;
  readonly field: Field;
  readonly shell: unknown;
  readonly drover: unknown;
  readonly note?: string;
};

const SHOWN_BYTES_MAX = 2_000;

/** The pid of the spawner and the number of the task: a task has it by design, with another value each time. */
const SPAWN_KEY = /DROVER_SPAWN_KEY=.*$/gm;
/** `bash: line 1: 4711 Killed    sleep 5`: the pid of a process that died within the command. */
const PID_OF_THE_DEAD = /(line \d+: +|^ +)\d+ (?=[A-Z])/gm;

const FIELDS: readonly Field[] = ['exit', 'signal', 'stdout', 'stderr', 'files', 'leftovers'];

export function differences(entry: Entry, reference: Outcome, drover: Outcome): Difference[] {
  const shell = comparable(entry, reference);
  const ours = comparable(entry, drover);
  return FIELDS.filter((field) => JSON.stringify(shell[field]) !== JSON.stringify(ours[field])).map((field) => ({
    command: entry.command.length > SHOWN_BYTES_MAX ? `${entry.command.slice(0, SHOWN_BYTES_MAX)}…` : entry.command,
    field,
    shell: shell[field],
    drover: ours[field],
    ...(entry.note === undefined ? {} : { note: entry.note }),
  }));
}

/** Those that the entry does not expect, and a word on the expected ones that are missing. */
export function surprises(entry: Entry, found: readonly Difference[]): Difference[] {
  const expected = entry.differs?.fields ?? [];
  const missing = expected.filter((field) => !found.some((difference) => difference.field === field));
  return [
    ...found.filter(({ field }) => !expected.includes(field)),
    ...missing.map((field) => ({ command: entry.command, field, shell: 'the same', drover: 'expected to differ' })),
  ];
}

function comparable(entry: Entry, outcome: Outcome): Record<Field, unknown> {
  const stream = (name: 'stdout' | 'stderr'): string => {
    const text = normalise(outcome[name]);
    return shown(entry.unordered === name ? text.split('\n').sort().join('\n') : text);
  };
  return {
    ...outcome,
    exit: outcome.exit,
    signal: outcome.signal,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
  };
}

/** One character per byte. */
function normalise(bytes: Buffer): string {
  return bytes.toString('latin1').replaceAll(SPAWN_KEY, 'DROVER_SPAWN_KEY=').replaceAll(PID_OF_THE_DEAD, '$1PID ');
}

function shown(text: string): string {
  if (text.length <= SHOWN_BYTES_MAX) return text;
  return `${text.slice(0, SHOWN_BYTES_MAX)}… ${text.length} bytes, ${createHash('sha1').update(text).digest('hex')}`;
}

export function snapshot(directory: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: 'latin1' }).sort()) {
    found[name] = describePath(Buffer.from(join(directory, name), 'latin1'));
  }
  return found;
}

function describePath(path: Buffer): string {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(path)}`;
  if (stats.isDirectory()) return `directory ${mode}`;
  if (stats.isFile()) return `file ${mode} ${shown(normalise(readFileSync(path)))}`;
  return `special ${stats.mode.toString(8)}`;
}
