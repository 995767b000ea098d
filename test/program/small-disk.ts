/** Small disks for the real program: mounted by root, or in a user and mount namespace that commands enter. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export interface SmallDisks {
  /** What has to run a command for it to see the disks. */
  readonly via: readonly string[];
  /** `size`: as of tmpfs, for example `size=1m`. */
  mount(path: string, size: string): void;
  resize(path: string, size: string): void;
  remove(): void;
}

/** Undefined where nothing may be mounted. */
export function smallDisks(): SmallDisks | undefined {
  if (process.getuid?.() === 0) return disksVia([], undefined);
  if (spawnSync('unshare', ['-Urm', 'true']).status !== 0) return undefined;
  const holder = spawn('unshare', ['-Urm', 'sh', '-c', 'echo; exec sleep 600'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const via = ['nsenter', '--target', String(holder.pid), '--user', '--mount', '--preserve-credentials', '--wd=.'];
  while (spawnSync(via[0] ?? '', [...via.slice(1), 'true']).status !== 0)
    if (holder.exitCode !== null) return undefined;
  return disksVia(via, holder);
}

function disksVia(via: readonly string[], holder: ChildProcess | undefined): SmallDisks {
  const mounted: string[] = [];
  const run = (...words: string[]): void => {
    const [program = '', ...args] = [...via, ...words];
    execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  return {
    via,
    mount: (path, size) => {
      mkdirSync(path, { recursive: true });
      run('mount', '-t', 'tmpfs', '-o', size, 'tmpfs', path);
      mounted.push(path);
    },
    resize: (path, size) => run('mount', '-o', `remount,${size}`, path),
    remove: () => {
      for (const path of mounted.reverse()) run('umount', '--lazy', path);
      holder?.kill();
    },
  };
}
