/**
 * The launcher for where koffi has no binary: Node's own child_process, which copies the page tables of this process
 * at each start, and cannot adopt orphans. What this process inherited, such as the worker's lock, stays out of tasks:
 * Node marks the first 16 descriptors close-on-exec when it starts.
 */

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { ProcessEnd } from '../platform/node/libc.ts';
import { BaseEnvironment } from './environment.ts';
import type { Launcher, LaunchRequest } from './launcher.ts';

export class NodeLauncher implements Launcher {
  readonly name = 'node';
  readonly libc = undefined;
  readonly triesPrograms = false;
  readonly note =
    'no native launcher for this platform: tasks start slower, CPU time is reported as 0, ' +
    'and a process that leaves its session and clears its environment outlives its task';
  private onEnds: (ends: readonly ProcessEnd[]) => void = () => {};

  makeEnvironment(entries: readonly string[]): BaseEnvironment {
    return new BaseEnvironment(entries);
  }

  launch(request: LaunchRequest): number {
    try {
      const child = spawn(request.path, request.argv.slice(1), {
        argv0: request.argv[0] ?? request.path,
        cwd: request.cwd,
        env: environmentRecord(request),
        stdio: [request.stdin, request.stdout, request.stderr],
        detached: true,
      });
      // Node tells the cause in a later turn; by then the spawner has looked for itself.
      child.on('error', () => {});
      const { pid } = child;
      if (pid === undefined) return -constants.errno.EAGAIN;
      child.on('exit', (code, signal) => this.onEnds([endOf(pid, code, signal)]));
      return pid;
    } catch (error) {
      const errno = (error as NodeJS.ErrnoException).errno;
      return errno === undefined ? -constants.errno.EINVAL : -Math.abs(errno);
    }
  }

  watch(onEnds: (ends: readonly ProcessEnd[]) => void): void {
    this.onEnds = onEnds;
  }

  discardEnds(): void {
    this.onEnds = () => {};
  }
}

function endOf(pid: number, code: number | null, signal: NodeJS.Signals | null): ProcessEnd {
  const how = signal === null ? { exit: code ?? 0 } : { signal: constants.signals[signal] };
  return { pid, ...how, cpuMs: 0, maxRssBytes: 0 };
}

function environmentRecord(request: LaunchRequest): Record<string, string> {
  const record: Record<string, string> = {};
  for (const entry of [...request.env.entries, ...request.vars]) {
    const at = entry.indexOf('=');
    if (at > 0) record[entry.slice(0, at)] = entry.slice(at + 1);
  }
  return record;
}
