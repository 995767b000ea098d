/** Runs a command by `shell -c`, as a user at a terminal would, in a session of its own. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadLibc } from '../../src/platform/node/libc.ts';
import { allProcesses, isTagged, readStat, sendSignal } from '../../src/platform/node/process-tree.ts';
import { LEFTOVER_GRACE_MS, SPAWN_KEY_VARIABLE } from '../../src/protocol/spawner.ts';
import type { Run, RunEnd } from './run.ts';

const RUN_MS_MAX = 5_000;
const POLL_MS = 10;
let count = 0;

/** What this process inherited itself must not get into a shell: a terminal has nothing open beyond 2. */
export function keepDescriptors(): void {
  const libc = loadLibc();
  for (const fd of readdirSync('/proc/self/fd').map(Number)) if (fd > 2) libc?.closeOnExec(fd);
}

export async function runByShell(run: Run): Promise<RunEnd> {
  // As the spawner's tag finds daemons of a task, this one finds those of the shell.
  const tag = `${SPAWN_KEY_VARIABLE}=reference-${process.pid}-${++count}`;
  const stdout = openSync(run.stdout, 'a');
  const stderr = openSync(run.stderr, 'a');
  // A line that begins like an option is a command nevertheless, as it is in a script or at a terminal.
  const options = /^[-+]/.test(run.command) ? ['-c', '--'] : ['-c'];
  const child = spawn(run.shell, [...options, run.command], {
    argv0: basename(run.shell),
    cwd: run.cwd,
    env: Object.fromEntries([...run.env, `PWD=${run.cwd}`, tag].map(pairOf)),
    stdio: ['ignore', stdout, stderr],
    detached: true,
  });
  const pid = child.pid ?? 0;
  const timer = setTimeout(() => sendSignal(-pid, 'SIGKILL'), RUN_MS_MAX);
  const [exit, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  const leftovers = await settle(pid, tag, run.command.includes('setsid'));
  closeSync(stdout);
  closeSync(stderr);
  return {
    ...(signal === null ? { exit: exit ?? -1 } : { signal: constants.signals[signal] }),
    stdout: readFileSync(run.stdout),
    stderr: readFileSync(run.stderr),
    leftovers,
  };
}

/** Gives what is left the same time to end as the spawner does; then counts and kills it. */
async function settle(pid: number, tag: string, leavesSession: boolean): Promise<number> {
  const left = () => (leavesSession || sendSignal(-pid, 0) ? processesOf(pid, tag) : []);
  const until = performance.now() + LEFTOVER_GRACE_MS;
  while (left().length > 0 && performance.now() < until) await delay(POLL_MS);
  const leftovers = left();
  for (const other of leftovers) sendSignal(other, 'SIGKILL');
  return leftovers.length;
}

function processesOf(pid: number, tag: string): number[] {
  return allProcesses().filter((other) => {
    const stat = readStat(other);
    return stat && stat.state !== 'Z' && (stat.session === pid || isTagged(other, tag));
  });
}

function pairOf(entry: string): [string, string] {
  const at = entry.indexOf('=');
  return [entry.slice(0, at), entry.slice(at + 1)];
}
