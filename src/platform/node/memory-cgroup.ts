/**
 * Where this process may make cgroups of its own that limit memory, in either version of the kernel's interface.
 *
 * Each worker has one directory, below the cgroup that it runs in: so the limits of whoever runs the worker hold for
 * its tasks, too. It is named after the process, so that the next worker removes what one that was killed has left.
 */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStat } from './process-tree.ts';

export type CgroupVersion = 1 | 2;

export interface CgroupPlace {
  readonly version: CgroupVersion;
  readonly path: string;
}

export const processesFile = 'cgroup.procs';
const childrenControllers = 'cgroup.subtree_control';
const prefix = 'drover-';

/** The cgroup of a process that holds its memory, from its `/proc/PID/mountinfo` and `/proc/PID/cgroup`. */
export function findMemoryCgroups(mountinfo: string, memberships: string): CgroupPlace[] {
  const mounts = mountinfo.split('\n').flatMap(parseMount);
  return memberships.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (path === undefined || controllers === undefined) return [];
    const version = controllers === '' ? 2 : 1;
    if (version === 1 && !controllers.split(',').includes('memory')) return [];
    const mount = mounts.find((one) => one.version === version);
    if (mount === undefined) return [];
    // What is mounted in a container may begin at the container's own cgroup.
    const below = path.startsWith(mount.root) ? path.slice(mount.root.length) : '';
    return [{ version, path: join(mount.path, below) }];
  });
}

function parseMount(line: string): (CgroupPlace & { readonly root: string })[] {
  const [own = '', file = ''] = line.split(' - ');
  const [, , , root = '/', path = '/'] = own.split(' ');
  const [type, , options = ''] = file.split(' ');
  const at = { root: root === '/' ? '' : root, path: path.replaceAll('\\040', ' ') };
  if (type === 'cgroup2') return [{ version: 2, ...at }];
  return type === 'cgroup' && options.split(',').includes('memory') ? [{ version: 1, ...at }] : [];
}

/** A directory of this worker's own for the cgroups of its tasks; undefined where that is not permitted. */
export function claimMemoryCgroup(): CgroupPlace | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const found = findMemoryCgroups(text('/proc/self/mountinfo'), text('/proc/self/cgroup'));
    for (const place of found.sort((one, other) => other.version - one.version)) {
      const claimed = claimIn(place, nameOf(process.pid));
      if (claimed !== undefined) return claimed;
    }
  } catch {
    // No cgroups, or none that can be read.
  }
  return undefined;
}

export function claimIn({ version, path: parent }: CgroupPlace, name: string): CgroupPlace | undefined {
  const path = join(parent, name);
  const own = `${path}.worker`;
  try {
    removeForsaken(parent);
    if (version === 2) becomeChild(parent, own);
    mkdirSync(path);
    if (version === 2) writeFileSync(join(path, childrenControllers), '+memory');
    return { version, path };
  } catch {
    goBack(parent, own);
    removeCgroup(path);
    return undefined;
  }
}

/**
 * In version 2 a cgroup that limits its children has no processes of its own: this one moves into a child, if it is
 * alone. Throws where that is not so, or memory is not delegated.
 */
function becomeChild(parent: string, own: string): void {
  if (!words(join(parent, 'cgroup.controllers')).includes('memory')) throw new Error('memory is not delegated');
  if (words(join(parent, childrenControllers)).includes('memory')) return;
  const others = words(join(parent, processesFile)).filter((pid) => Number(pid) !== process.pid);
  if (others.length > 0) throw new Error('it is not alone in its cgroup');
  mkdirSync(own);
  writeFileSync(join(own, processesFile), String(process.pid));
  writeFileSync(join(parent, childrenControllers), '+memory');
}

function goBack(parent: string, own: string): void {
  try {
    if (!words(join(own, processesFile)).includes(String(process.pid))) return;
    writeFileSync(join(parent, processesFile), String(process.pid));
    rmdirSync(own);
  } catch {
    // It was not there.
  }
}

const nameOf = (pid: number): string => `${prefix}${pid}.${readStat(pid)?.startTicks ?? 0}`;

function removeForsaken(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)\\.`).exec(name)?.[1]);
    const isOurs = Number.isInteger(pid) && (name === nameOf(pid) || name === `${nameOf(pid)}.worker`);
    if (Number.isInteger(pid) && !isOurs) removeCgroup(join(parent, name));
  }
}

/** With those below it; one in which something lives stays. Returns whether it is gone. */
export function removeCgroup(path: string): boolean {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) removeCgroup(join(path, entry.name));
    }
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

const text = (path: string): string => readFileSync(path, 'utf8');
const words = (path: string): string[] => text(path).split(/\s+/).filter(Boolean);
