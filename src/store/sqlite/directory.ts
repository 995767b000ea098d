/** The project's folder: made if it is missing, kept out of version control, and refused where SQLite is not safe. */
import { accessSync, constants, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DroverError } from '../../model/errors.ts';
import { makeDirectory } from '../../platform/node/make-directory.ts';
import { storeFailure } from './failure.ts';

/** Numbers by which Linux's statfs names a file system (linux/magic.h, and the vendors' own). */
const sharedFileSystems: ReadonlyMap<bigint, string> = new Map([
  [0x6969n, 'NFS'],
  [0x517bn, 'SMB'],
  [0xff534d42n, 'CIFS'],
  [0xfe534d42n, 'SMB'],
  [0x0bd00bd0n, 'Lustre'],
  [0x47504653n, 'GPFS'],
  [0x5346414fn, 'AFS'],
  [0x6b414653n, 'AFS'],
  [0x73757245n, 'Coda'],
  [0x00c36400n, 'Ceph'],
  [0x19830326n, 'BeeGFS'],
  [0x20030528n, 'OrangeFS'],
  [0xaad7aaean, 'PanFS'],
  [0x01161970n, 'GFS2'],
  [0x7461636fn, 'OCFS2'],
]);

/**
 * The name of a file system that several hosts share, on which SQLite's lock and its shared memory hold on each host
 * only. Not refused: 9p, by which sandboxes and virtual machines reach the disk of their one host (gVisor shows every
 * file so), and FUSE, which may be anything; where these lack shared memory, opening the store says so.
 */
export function sharedFileSystem(type: bigint): string | undefined {
  // The kernel's word is signed on some machines: 0xff534d42 comes back with all higher bits set.
  return sharedFileSystems.get(BigInt.asUintN(32, type));
}

/** Readable for its owner only: commands and environments are in it. */
export function prepareDirectory(directory: string): void {
  try {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false) throw isFile(directory);
    makeDirectory(directory, 0o700);
    const { type } = statfsSync(directory, { bigint: true });
    const shared = sharedFileSystem(type);
    if (shared !== undefined) {
      throw new DroverError('store-shared-fs', `${directory} is on a network file system (${shared})`);
    }
    accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK);
    writeOnce(join(directory, '.gitignore'), '*\n');
  } catch (error) {
    throw storeFailure(error, directory);
  }
}

const isFile = (path: string): DroverError =>
  new DroverError('store-unwritable', `${path} can not be used: it is a file, not a folder`, {
    hint: 'move it away, or name another folder with --dir',
  });

function writeOnce(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
