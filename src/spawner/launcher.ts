/**
 * Starting processes through libc: `posix_spawn`, which does not copy the spawner's memory, and `wait4`.
 * Owns the memory of the call under way, and the places in which processes began (places.ts). Invariants:
 *  1. `posix_spawn` returns after the exec, so one block of memory serves all calls;
 *  2. this process never uses child_process as well, since `wait4(-1)` would take those children's ends;
 *  3. SIGCHLD is a hint: several deaths may share one, so each takes every end that is there.
 */

import type { Libc, ProcessEnd } from '../platform/node/libc.ts';
import type { LauncherName } from '../protocol/spawner.ts';
import { CStrings, lengthOf } from './c-strings.ts';
import { BaseEnvironment } from './environment.ts';
import { SpawnPlaces } from './places.ts';

export type LaunchRequest = {
  readonly path: string;
  readonly argv: readonly string[];
  readonly env: BaseEnvironment;
  /** Added to the base or replacing its entries; of two with the same name the later counts. */
  readonly vars: readonly string[];
  readonly cwd: string;
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
};

export type Launcher = {
  readonly name: LauncherName;
  /** What is lost with this launcher, for the user. */
  readonly note?: string;
  /** For the small calls around each task, too; absent where there is none. */
  readonly libc: Libc | undefined;
  /** Whether a failed launch says why, so that a program can be tried before the shell. */
  readonly triesPrograms: boolean;
  makeEnvironment(entries: readonly string[]): BaseEnvironment;
  /** The pid, or -errno. */
  launch(request: LaunchRequest): number;
  /** From now on, every batch of ends goes to `onEnds`. */
  watch(onEnds: (ends: readonly ProcessEnd[]) => void): void;
  /** Forgets the ends that are there, in the last moments of this process. */
  discardEnds(): void;
};

export class PosixLauncher implements Launcher {
  readonly name = 'posix_spawn';
  readonly triesPrograms = true;
  readonly libc: Libc;
  private readonly block: CStrings;
  private readonly places: SpawnPlaces;

  constructor(libc: Libc) {
    this.libc = libc;
    this.block = new CStrings(libc.addressOf);
    this.places = new SpawnPlaces(libc);
  }

  makeEnvironment(entries: readonly string[]): BaseEnvironment {
    return new BaseEnvironment(entries, this.libc);
  }

  launch(request: LaunchRequest): number {
    const { path, argv } = request;
    const place = this.places.find(request);
    if (typeof place === 'number') return -place;
    this.block.reserve(path.length + lengthOf(argv) + argv.length + 1, argv.length + 1);
    return this.libc.spawn({
      path: this.block.addString(path),
      argv: this.writeArguments(argv),
      envp: request.env.write(request.vars),
      place,
    });
  }

  watch(onEnds: (ends: readonly ProcessEnd[]) => void): void {
    process.on('SIGCHLD', () => {
      const ends: ProcessEnd[] = [];
      for (let end = this.libc.reap(-1); end; end = this.libc.reap(-1)) ends.push(end);
      if (ends.length > 0) onEnds(ends);
    });
  }

  discardEnds(): void {
    while (this.libc.reap(-1)) {
      // Each call takes one.
    }
  }

  private writeArguments(argv: readonly string[]): number {
    const address = this.block.nextPointer();
    for (const argument of argv) this.block.pushPointer(this.block.addString(argument));
    this.block.pushPointer(0);
    return address;
  }
}
