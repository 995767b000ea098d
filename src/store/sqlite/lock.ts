/**
 * One controller per store: a transaction that is never ended, on a database of its own, held by the kernel for as long
 * as the process lives. Whoever dies, however, frees it; nobody has to judge whether a lock file is stale.
 * Owns: the lock, and the note that says who has it. The note only serves the message to the one that is refused.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DroverError } from '../../model/errors.ts';
import { storeFailure } from './failure.ts';

const lockHint = 'remove that file: it is there only to be locked, and holds no data';

/** A connection that nobody refers to is closed by the garbage collector, and its lock with it. */
const held = new Set<DatabaseSync>();

export interface Lock {
  release(): void;
}

export function takeLock(directory: string): Lock {
  const path = join(directory, 'lock.db');
  const note = join(directory, 'lock.holder');
  const database = hold(path, directory, note);
  held.add(database);
  attempt(() => writeFileSync(note, `process ${process.pid} on ${hostname()}\n`));
  return {
    release() {
      attempt(() => rmSync(note, { force: true }));
      database.close();
      held.delete(database);
    },
  };
}

function hold(path: string, directory: string, note: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path);
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    const failure = storeFailure(error, path);
    if (!(failure instanceof DroverError)) throw failure;
    if (failure.code === 'store-damaged')
      throw new DroverError(failure.code, failure.message, { hint: lockHint, cause: error });
    if (failure.code !== 'store-locked') throw failure;
    throw new DroverError('store-locked', `${directory} is in use by ${holderOf(note)}`, { cause: error });
  }
}

function holderOf(note: string): string {
  const text = attempt(() => readFileSync(note, 'utf8').trim());
  return text === undefined || text === '' ? 'another controller' : text;
}

/** The note is a courtesy: the lock holds without it. */
function attempt<Result>(act: () => Result): Result | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
