/**
 * The few libc calls that Node does not offer, bound once through koffi.
 *
 * Addresses travel as JavaScript numbers (user space ends below 2^48), which koffi passes without allocating.
 * A number does not keep its buffer alive. So the buffers of this file are held for good (`held`), and whoever calls
 * `addressOf` keeps what it passes, off the V8 heap, for as long as the address is used.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, endianness } from 'node:os';

/** How a process ended, from `wait4`: exactly one of `exit` and `signal`. */
export type ProcessEnd = {
  readonly pid: number;
  readonly exit?: number;
  readonly signal?: number;
  /** User and system time, including descendants that were waited for. */
  readonly cpuMs: number;
  /** Starts at the spawner's own size, since `posix_spawn` shares its memory until the exec. */
  readonly maxRssBytes: number;
};

/** Where a process begins: the address of its directory's name, and the descriptors that become 0, 1 and 2. */
export type SpawnPlace = {
  readonly cwd: number;
  readonly stdin: number;
  readonly stdout: number;
  readonly stderr: number;
};

/** A place as `posix_spawn` takes it. Good for any number of processes, one after the other, until it is released. */
export type PreparedPlace = { readonly bytes: Buffer; readonly address: number };

/** Addresses of C strings and of NULL-terminated arrays of them. */
export type SpawnCall = {
  readonly path: number;
  readonly argv: number;
  readonly envp: number;
  readonly place: PreparedPlace;
};

export type FileLook = { readonly mode: number; readonly ctimeMs: number; readonly sizeBytes: number };

export type Libc = {
  addressOf(bytes: Uint8Array): number;
  /** Or the errno. */
  preparePlace(place: SpawnPlace): PreparedPlace | number;
  releasePlace(place: PreparedPlace): void;
  /** The pid of a process that leads a new session with default signals, or -errno. */
  spawn(call: SpawnCall): number;
  /** What is at a path, given by its address; undefined when there is nothing that may be looked at. */
  lookAt(path: number): FileLook | undefined;
  /** What is open. */
  lookInto(fd: number): FileLook | undefined;
  /** Whether a file was emptied. */
  empty(fd: number): boolean;
  /** How many bytes were read to an address, or -1. */
  readAt(fd: number, to: number, length: number, position: number): number;
  /** A child that has ended, if any; `pid` -1 means any child. Never blocks. */
  reap(pid: number): ProcessEnd | undefined;
  /** Reaps ended children except `spare`, which belong to someone else (for Node: its own child processes). */
  reapOrphans(spare: ReadonlySet<number>): number;
  /** Orphans below this process become its children rather than init's. */
  becomeSubreaper(): boolean;
  /** An exclusive `flock` that the open file description keeps until its last descriptor closes. */
  tryLock(fd: number): boolean;
  closeOnExec(fd: number): void;
  /** Whether `setlocale` would take this name. */
  hasLocale(name: string): boolean;
};

/** koffi's own types end in `any`; what is called here takes and returns numbers only. */
type NativeFunction = (...args: number[]) => number;
type Koffi = {
  load(path: string): { func(name: string, result: string, args: string[]): NativeFunction };
  address(bytes: Uint8Array): bigint;
  sizeof(type: string): number;
  errno(): number;
};

const SPAWN_SETSIGDEF = 0x04;
const SPAWN_SETSIGMASK = 0x08;
const SPAWN_SETSID = 0x80;
const PR_SET_CHILD_SUBREAPER = 36;
const WNOHANG = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;
/** Of glibc: every category but the sixth, which stands for all. */
const LC_ALL_MASK = 0x1fbf;
const F_SETFD = 2;
const AT_FDCWD = -100;
const AT_EMPTY_PATH = 0x1000;
const STATX_BASIC_STATS = 0x7ff;
const FD_CLOEXEC = 1;
/** Larger than any glibc's `posix_spawnattr_t` (336) and `posix_spawn_file_actions_t` (80). */
const OPAQUE_BYTES = 512;
const SIGSET_BYTES = 128;
/** `struct rusage` of 64-bit Linux. */
const RUSAGE = { bytes: 144, userSec: 0, userMicros: 8, systemSec: 16, systemMicros: 24, maxRssKiB: 32 };

/** `struct statx`, the same for every architecture. */
const STATX = { bytes: 256, mode: 28, size: 40, ctimeSec: 96, ctimeNanos: 104 };

const held: Buffer[] = [];

/** undefined where koffi has no binary, or the C library is not a 64-bit little-endian glibc. */
export function loadLibc(): Libc | undefined {
  if (process.platform !== 'linux' || endianness() !== 'LE') return undefined;
  try {
    // Not an import: a missing binary must be an answer, not a failure to start; and it stays external when bundled.
    const koffi = createRequire(import.meta.url)('koffi') as Koffi;
    return koffi.sizeof('void *') === 8 ? bind(koffi) : undefined;
  } catch {
    return undefined;
  }
}

function bind(koffi: Koffi): Libc {
  const lib = koffi.load('libc.so.6');
  const addressOf = (bytes: Uint8Array): number => Number(koffi.address(bytes));
  const prctl = lib.func('prctl', 'int', ['int', 'ulong', 'ulong', 'ulong', 'ulong']);
  const flock = lib.func('flock', 'int', ['int', 'int']);
  // Variadic in C; with integer arguments the calling conventions of x86-64 and arm64 Linux are the same.
  const fcntl = lib.func('fcntl', 'int', ['int', 'int', 'long']);
  const ftruncate = lib.func('ftruncate', 'int', ['int', 'long']);
  const reap = bindReap(lib, addressOf);
  return {
    addressOf,
    ...bindSpawn(lib, addressOf),
    ...bindLooks(lib, addressOf),
    empty: (fd) => ftruncate(fd, 0) === 0,
    readAt: lib.func('pread', 'long', ['int', 'uintptr_t', 'ulong', 'long']),
    reap,
    reapOrphans(spare) {
      const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1');
      return children.split(' ').filter((pid) => pid !== '' && !spare.has(Number(pid)) && reap(Number(pid))).length;
    },
    becomeSubreaper: () => prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) === 0,
    tryLock(fd) {
      if (flock(fd, LOCK_EX | LOCK_NB) === 0) return true;
      const errno = koffi.errno();
      if (errno === constants.errno.EWOULDBLOCK) return false;
      throw new Error(`flock on descriptor ${fd} failed with errno ${errno}`);
    },
    closeOnExec: (fd) => void fcntl(fd, F_SETFD, FD_CLOEXEC),
    hasLocale: bindHasLocale(lib, addressOf),
  };
}

type Library = ReturnType<Koffi['load']>;
type AddressOf = (bytes: Uint8Array) => number;

function bindSpawn(lib: Library, addressOf: AddressOf): Pick<Libc, 'preparePlace' | 'releasePlace' | 'spawn'> {
  const pointer = 'uintptr_t';
  const posixSpawn = lib.func('posix_spawn', 'int', Array<string>(6).fill(pointer));
  const actionsInit = lib.func('posix_spawn_file_actions_init', 'int', [pointer]);
  const actionsDestroy = lib.func('posix_spawn_file_actions_destroy', 'int', [pointer]);
  const addDup2 = lib.func('posix_spawn_file_actions_adddup2', 'int', [pointer, 'int', 'int']);
  const addChdir = lib.func('posix_spawn_file_actions_addchdir_np', 'int', [pointer, pointer]);
  const pidBytes = pinned(4);
  const attr = addressOf(sessionAttributes(lib, addressOf));
  const pidOut = addressOf(pidBytes);
  return {
    preparePlace({ cwd, stdin, stdout, stderr }) {
      const bytes = Buffer.from(new ArrayBuffer(OPAQUE_BYTES));
      const address = addressOf(bytes);
      actionsInit(address);
      const errno =
        addChdir(address, cwd) ||
        addDup2(address, stdin, 0) ||
        addDup2(address, stdout, 1) ||
        addDup2(address, stderr, 2);
      if (errno === 0) return { bytes, address };
      actionsDestroy(address);
      return errno;
    },
    releasePlace: ({ address }) => void actionsDestroy(address),
    spawn({ path, argv, envp, place }) {
      const errno = posixSpawn(pidOut, path, place.address, attr, argv, envp);
      return errno === 0 ? pidBytes.readInt32LE(0) : -errno;
    },
  };
}

/** In the midst of short tasks, with cold caches, this costs a fraction of what `fs.stat` does. */
function bindLooks(lib: Library, addressOf: AddressOf): Pick<Libc, 'lookAt' | 'lookInto'> {
  const statx = lib.func('statx', 'int', ['int', 'uintptr_t', 'int', 'uint', 'uintptr_t']);
  const found = pinned(STATX.bytes);
  const foundAddress = addressOf(found);
  const noPath = addressOf(pinned(1));
  const look = (directory: number, path: number, flags: number): FileLook | undefined => {
    if (statx(directory, path, flags, STATX_BASIC_STATS, foundAddress) !== 0) return undefined;
    return {
      mode: found.readUInt16LE(STATX.mode),
      ctimeMs: readLong(found, STATX.ctimeSec) * 1000 + found.readUInt32LE(STATX.ctimeNanos) / 1e6,
      sizeBytes: readLong(found, STATX.size),
    };
  };
  return {
    lookAt: (path) => look(AT_FDCWD, path, 0),
    lookInto: (fd) => look(fd, noPath, AT_EMPTY_PATH),
  };
}

/** New session, empty mask, every signal at its default: Node ignores SIGPIPE, and tasks must not inherit that. */
function sessionAttributes(lib: Library, addressOf: AddressOf): Buffer {
  const pointer = 'uintptr_t';
  const attributes = pinned(OPAQUE_BYTES);
  const noSignal = pinned(SIGSET_BYTES);
  // Not sigfillset, which leaves out the two signals that glibc uses itself: those would arrive ignored.
  const everySignal = pinned(SIGSET_BYTES).fill(0xff);
  const attr = addressOf(attributes);
  lib.func('posix_spawnattr_init', 'int', [pointer])(attr);
  lib.func('posix_spawnattr_setsigmask', 'int', [pointer, pointer])(attr, addressOf(noSignal));
  lib.func('posix_spawnattr_setsigdefault', 'int', [pointer, pointer])(attr, addressOf(everySignal));
  const flags = SPAWN_SETSID | SPAWN_SETSIGMASK | SPAWN_SETSIGDEF;
  lib.func('posix_spawnattr_setflags', 'int', [pointer, 'short'])(attr, flags);
  return attributes;
}

function bindReap(lib: Library, addressOf: AddressOf): Libc['reap'] {
  const wait4 = lib.func('wait4', 'int', ['int', 'uintptr_t', 'int', 'uintptr_t']);
  const statusBytes = pinned(4);
  const usage = pinned(RUSAGE.bytes);
  const statusAddress = addressOf(statusBytes);
  const usageAddress = addressOf(usage);
  return (child) => {
    const pid = wait4(child, statusAddress, WNOHANG, usageAddress);
    if (pid <= 0) return undefined;
    const status = statusBytes.readInt32LE(0);
    const signal = status & 0x7f;
    const seconds = readLong(usage, RUSAGE.userSec) + readLong(usage, RUSAGE.systemSec);
    const micros = readLong(usage, RUSAGE.userMicros) + readLong(usage, RUSAGE.systemMicros);
    const cpuMs = seconds * 1000 + micros / 1000;
    const maxRssBytes = readLong(usage, RUSAGE.maxRssKiB) * 1024;
    return signal === 0 ? { pid, exit: (status >> 8) & 0xff, cpuMs, maxRssBytes } : { pid, signal, cpuMs, maxRssBytes };
  };
}

function bindHasLocale(lib: Library, addressOf: AddressOf): Libc['hasLocale'] {
  const newLocale = lib.func('newlocale', 'uintptr_t', ['int', 'uintptr_t', 'uintptr_t']);
  const freeLocale = lib.func('freelocale', 'void', ['uintptr_t']);
  return (name) => {
    const text = Buffer.from(new ArrayBuffer(Buffer.byteLength(name) + 1));
    text.write(name);
    const locale = newLocale(LC_ALL_MASK, addressOf(text), 0);
    if (locale !== 0) freeLocale(locale);
    return locale !== 0;
  };
}

/** A buffer of its own, off the V8 heap so that it does not move, and never collected. */
function pinned(bytes: number): Buffer {
  const buffer = Buffer.from(new ArrayBuffer(bytes));
  held.push(buffer);
  return buffer;
}

/** A non-negative `long`, without a BigInt. */
function readLong(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}
