/** Several statements as one. */
import type { DatabaseSync } from 'node:sqlite';

/** Everything or nothing. */
export function transaction<Result>(database: DatabaseSync, act: () => Result): Result {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = act();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    // Some failures (a full disk) have rolled back already.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** Several reads that see the same. */
export function reading<Result>(database: DatabaseSync, read: () => Result): Result {
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    if (database.isTransaction) database.exec('COMMIT');
  }
}
