/**
 * The spawner process: frames on stdin, frames on stdout, complaints on stderr.
 * However it ends (end of stdin, a signal, a broken pipe, a bug), everything below it is dead first.
 */

import { readdirSync } from 'node:fs';
import { constants } from 'node:os';
import type { Timer } from '../platform/env.ts';
import { realClock, uptimeMs } from '../platform/node/clock.ts';
import type { Libc } from '../platform/node/libc.ts';
import { loadLibc } from '../platform/node/libc.ts';
import { TaskCgroups } from '../platform/node/task-cgroup.ts';
import type { ToSpawner } from '../protocol/spawner.ts';
import { decodeFrame, LineSplitter } from '../protocol/spawner.ts';
import { GroupKin } from '../spawner/group-kin.ts';
import { AdoptingKin } from '../spawner/kin.ts';
import { PosixLauncher } from '../spawner/launcher.ts';
import { NodeLauncher } from '../spawner/node-launcher.ts';
import { Outbox } from '../spawner/outbox.ts';
import { SlotQueue } from '../spawner/slot-queue.ts';
import type { SpawnerOptions } from '../spawner/spawner.ts';
import { Spawner } from '../spawner/spawner.ts';

const EXIT_BUG = 70;
const EXIT_SIGNAL = 128;
const EXIT_DEADLINE = 71;
/** `--launcher=node` runs without koffi where it is there, to test or to rule it out. */
const plainLauncher = process.argv.includes('--launcher=node');
/** `--sampling=off`: to see what it costs to look at tasks (`npm run sampling`). */
const isSampling = !process.argv.includes('--sampling=off');
/** `--cgroups=1:/sys/fs/cgroup/…`: version and directory for the cgroups of tasks. */
const [, cgroupVersion, cgroupPath] =
  process.argv.map((argument) => /^--cgroups=([12]):(.+)$/.exec(argument)).find((match) => match !== null) ?? [];

let dying = false;
let spawner: Spawner | undefined;

function die(code: number, complaint?: unknown): void {
  if (dying) return;
  dying = true;
  try {
    spawner?.killEverything();
    if (complaint !== undefined) process.stderr.write(`drover spawner: ${describe(complaint)}\n`);
  } finally {
    process.exit(code);
  }
}

function describe(complaint: unknown): string {
  return complaint instanceof Error ? (complaint.stack ?? complaint.message) : String(complaint);
}

function machinery(libc: Libc | undefined): Pick<SpawnerOptions, 'launcher' | 'kin'> {
  if (!libc?.becomeSubreaper()) return { launcher: new NodeLauncher(), kin: new GroupKin() };
  // The worker's lock, among others: a task that inherited it would hold it after the worker's death.
  for (const fd of readdirSync('/proc/self/fd').map(Number)) if (fd > 2) libc.closeOnExec(fd);
  return { launcher: new PosixLauncher(libc), kin: new AdoptingKin(libc) };
}

process.on('uncaughtException', (error) => die(EXIT_BUG, error));
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.on(signal, () => die(EXIT_SIGNAL + constants.signals[signal]));
}

const clock = realClock();
let deadline: Timer | undefined;

/** By a clock that counts suspend: a machine that slept past it kills what it ran at once. */
function renew(ms: number, sentAt: number | undefined): void {
  const lateMs = sentAt === undefined ? 0 : Math.max(0, uptimeMs() - sentAt);
  deadline?.cancel();
  deadline = clock.at(clock.now() + ms - lateMs, () => die(EXIT_DEADLINE, 'the worker was not heard for too long'));
}

const outbox = new Outbox(process.stdout, {
  onBlocked: (blocked) => (blocked ? process.stdin.pause() : process.stdin.resume()),
  mayWait: () => queue.isWellFed,
  atLast: () => queue.takeStarts(),
  hasMore: () => queue.hasUntold,
});
const queue = new SlotQueue({
  pass: (message) => spawner?.handle(message),
  forgetFile: (path) => spawner?.forgetFile(path),
  send: (message) => outbox.send(message),
  wake: () => outbox.wake(),
  now: clock.now,
});
process.stdout.on('error', () => die(0));

spawner = new Spawner({
  ...machinery(plainLauncher ? undefined : loadLibc()),
  cgroups:
    cgroupPath === undefined
      ? undefined
      : TaskCgroups.open({ version: cgroupVersion === '1' ? 1 : 2, path: cgroupPath }),
  clock: { epochMs: clock.now, monotonicMs: () => performance.now() },
  slotCount: () => queue.slotCount,
  isSampling,
  send: (message) => queue.onMessage(message),
  onRenew: renew,
  onStopped: () => outbox.finish(() => die(0)),
});

const lines = new LineSplitter();
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk: string) => {
  for (const line of lines.push(chunk)) {
    for (const message of decodeFrame<ToSpawner>(line)) queue.handle(message);
  }
});
process.stdin.on('error', () => die(0));
process.stdin.on('close', () => die(0));
