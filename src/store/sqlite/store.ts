/**
 * The embedded store: one SQLite file, written on the calling thread.
 * Owns: the connection. Does not own: the lock (lock.ts) and the folder (directory.ts); take both before.
 *
 * 1. A commit that has returned survives the death of the process and of the machine (WAL, synchronous=FULL).
 * 2. After a commit that failed there is no other: the process is meant to end, and start again from what is there.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { assert, DroverError } from '../../model/errors.ts';
import type { Batch, Store } from '../store.ts';
import { storeFailure } from './failure.ts';
import { migrate } from './migrations.ts';
import { SqliteReader } from './reader.ts';
import { transaction } from './transaction.ts';
import { SqliteWriter } from './writer.ts';

/** Of every SQLite file; it is written before all else. */
const headerBytes = 100;

/**
 * The cache holds what is written often: the ends of the tables, and the tasks that are on their way. The log grows to
 * 32 MB before it is copied back: a page that changes in many commits is copied once, and no commit waits long for it.
 * The file is not mapped: that gained nothing measurable, and a disk that fails would end the process without a word.
 */
const settings = `
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = OFF;
  PRAGMA cache_size = -65536;
  PRAGMA temp_store = MEMORY;
  PRAGMA wal_autocheckpoint = 8000;
  PRAGMA journal_size_limit = 67108864;
`;

export function openSqliteStore(directory: string): Store {
  const path = join(directory, 'drover.db');
  let database: DatabaseSync | undefined;
  try {
    refuseEmptied(directory, path);
    database = new DatabaseSync(path);
    prepare(database, path);
    return new SqliteStore(database, path);
  } catch (error) {
    database?.close();
    throw storeFailure(error, path);
  }
}

/** SQLite takes an empty file for a new database; beside output that was kept it is what is left of one. */
function refuseEmptied(directory: string, path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined || size >= headerBytes || !existsSync(join(directory, 'output'))) return;
  throw new DroverError('store-damaged', `${path} is empty, but this folder has been used`);
}

function prepare(database: DatabaseSync, path: string): void {
  const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.journal_mode;
  if (mode !== 'wal') {
    throw new DroverError(
      'store-shared-fs',
      `${path} is on a file system without shared memory (journal mode ${mode})`,
    );
  }
  database.exec(settings);
  migrate(database, path);
  transaction(database, () => {
    database.prepare("INSERT OR IGNORE INTO meta VALUES ('generation', ?), ('epoch', 0)").run(randomUUID());
    database.exec("UPDATE meta SET value = value + 1 WHERE key = 'epoch'");
  });
}

const inodeOf = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;

class SqliteStore extends SqliteReader implements Store {
  readonly #database: DatabaseSync;
  readonly #path: string;
  readonly #writer: SqliteWriter;
  readonly #inode: bigint | undefined;
  #hasFailed = false;

  constructor(database: DatabaseSync, path: string) {
    super(database, path);
    this.#database = database;
    this.#path = path;
    this.#inode = inodeOf(path);
    this.#writer = new SqliteWriter(database);
  }

  async commit(batch: Batch): Promise<void> {
    assert(!this.#hasFailed, 'nothing is committed after a commit that failed');
    try {
      this.#mustBeThere();
      this.#writer.write(batch);
    } catch (error) {
      this.#hasFailed = true;
      throw storeFailure(error, this.#path);
    }
  }

  async close(): Promise<void> {
    this.#database.close();
  }

  /** SQLite would go on with a file that has no name any more, and with the process all of it would be gone. */
  #mustBeThere(): void {
    if (inodeOf(this.#path) === this.#inode) return;
    throw new DroverError('store-damaged', `${this.#path} was removed or replaced while it was in use`, {
      hint: 'what was in it is lost, unless there is a backup; the next run begins anew',
    });
  }
}
