/**
 * The schema and how it came to be: migration N makes version N out of N - 1. One that was released is never edited.
 *
 * The layout follows what a commit costs: rowid tables keyed by dense ids and written in the order of their ids; no
 * secondary index; what never changes lies apart from what does, and a task has a row in `task` only from its first
 * change on. Codes are positions in the lists of src/model/states.ts.
 */
import type { DatabaseSync } from 'node:sqlite';
import { DroverError } from '../../model/errors.ts';
import { transaction } from './transaction.ts';

export const migrations: readonly string[] = [
  `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

  -- Texts that many rows share, by the SHA-256 of their content.
  CREATE TABLE text (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, body TEXT NOT NULL);

  CREATE TABLE workflow (
    id INTEGER PRIMARY KEY, rules TEXT NOT NULL, state INTEGER NOT NULL, open INTEGER NOT NULL, stop TEXT,
    halt_mode INTEGER, run INTEGER NOT NULL, created_at INTEGER NOT NULL, started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL
  );
  CREATE TABLE workflow_spec (workflow INTEGER PRIMARY KEY, spec TEXT NOT NULL, env INTEGER NOT NULL);

  -- Tasks that were added together: consecutive ids and indices of one workflow.
  CREATE TABLE run (
    first INTEGER PRIMARY KEY, workflow INTEGER NOT NULL, first_index INTEGER NOT NULL, seeds TEXT NOT NULL
  );
  CREATE TABLE definition (
    id INTEGER PRIMARY KEY, workflow INTEGER NOT NULL, position INTEGER NOT NULL, command TEXT, rest TEXT
  );
  -- In the order of writing; a removed edge has no kind.
  CREATE TABLE edge (
    id INTEGER PRIMARY KEY, parent_from INTEGER NOT NULL, parent_to INTEGER NOT NULL, child_from INTEGER NOT NULL,
    child_to INTEGER NOT NULL, kind INTEGER
  );
  CREATE TABLE task (
    id INTEGER PRIMARY KEY, state INTEGER NOT NULL, reason INTEGER NOT NULL, held INTEGER NOT NULL,
    used_attempts INTEGER NOT NULL, used_resources INTEGER NOT NULL, used_lost INTEGER NOT NULL,
    used_never_started INTEGER NOT NULL, attempt_number INTEGER NOT NULL, last_attempt INTEGER NOT NULL,
    not_before INTEGER NOT NULL
  );
  CREATE TABLE attempt (
    id INTEGER PRIMARY KEY, task INTEGER NOT NULL, number INTEGER NOT NULL, previous INTEGER NOT NULL,
    worker INTEGER NOT NULL, recorded_at INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER NOT NULL,
    outcome INTEGER, detail TEXT, wall_ms INTEGER, cpu_ms INTEGER, peak_bytes INTEGER, signalled_for TEXT
  );
  CREATE TABLE worker (
    id INTEGER PRIMARY KEY, shard TEXT NOT NULL, lock TEXT NOT NULL, instance TEXT NOT NULL, host TEXT NOT NULL,
    slots INTEGER NOT NULL, state INTEGER NOT NULL, joined_at INTEGER NOT NULL, gone_for TEXT
  );
  CREATE TABLE output_piece (
    attempt INTEGER NOT NULL, stream INTEGER NOT NULL, offset INTEGER NOT NULL, length INTEGER NOT NULL,
    file INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (attempt, stream, offset)
  ) WITHOUT ROWID;
  CREATE TABLE output_file (file INTEGER PRIMARY KEY, length INTEGER NOT NULL);

  -- Pages of changes, by the number of their last one.
  CREATE TABLE history (last INTEGER PRIMARY KEY, at INTEGER NOT NULL, count INTEGER NOT NULL, data TEXT NOT NULL);
  `,
  // Why a worker gets no tasks, as JSON; in what silence it may live on.
  `
  ALTER TABLE worker ADD COLUMN bar TEXT;
  ALTER TABLE worker ADD COLUMN silence_ms INTEGER NOT NULL DEFAULT 0;
  `,
  // Where a command is that other tasks have, too: then the column of its own is empty.
  `
  ALTER TABLE definition ADD COLUMN text INTEGER;
  `,
  `
  -- Who may ask for what. A token itself is not kept, only the SHA-256 of it.
  CREATE TABLE token (
    id INTEGER PRIMARY KEY, name TEXT, role TEXT NOT NULL, hash TEXT NOT NULL, created_at INTEGER NOT NULL,
    expires_at INTEGER, revoked_at INTEGER
  );
  -- What requests with an idempotency key were answered, in the order of their asking.
  CREATE TABLE answer (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, digest TEXT NOT NULL, at INTEGER NOT NULL, reply TEXT NOT NULL
  );
  `,
  'ALTER TABLE task ADD COLUMN priority INTEGER NOT NULL DEFAULT 0',
  // Workers over HTTP; what was measured while an attempt ran, numbered by attempt and metric.
  `
  ALTER TABLE worker ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE worker ADD COLUMN owner TEXT;
  CREATE TABLE usage_sample (
    attempt INTEGER NOT NULL, metric INTEGER NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (attempt, metric, number)
  ) WITHOUT ROWID;
  `,
  // Many edges in one row, whose own columns then say nothing.
  'ALTER TABLE edge ADD COLUMN pack BLOB',
  // What a worker has besides slots, as JSON; nothing for one that says nothing.
  'ALTER TABLE worker ADD COLUMN capacity TEXT',
  `
  -- When tasks were added; 0 where that was before it was kept.
  ALTER TABLE run ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
  -- How many tasks of a workflow run at a time, as JSON.
  ALTER TABLE workflow ADD COLUMN concurrency TEXT;
  CREATE TABLE cluster_limit (name TEXT PRIMARY KEY, max REAL NOT NULL) WITHOUT ROWID;
  -- What tasks asked for after an attempt ran out of a resource. One that was refused gives way to the next.
  CREATE TABLE adjustment (
    task INTEGER NOT NULL, number INTEGER NOT NULL, need TEXT NOT NULL, resource INTEGER NOT NULL, why TEXT NOT NULL,
    attempt INTEGER NOT NULL, refused INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (task, number)
  ) WITHOUT ROWID;
  -- Tasks that came into a group after they were added, as JSON.
  CREATE TABLE grouping (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tasks TEXT NOT NULL);
  `,
  // What is to be told to whom, and how far history was looked through for it.
  `
  CREATE TABLE notice (
    id INTEGER PRIMARY KEY, workflow INTEGER NOT NULL, rule INTEGER NOT NULL, run INTEGER NOT NULL, at INTEGER NOT NULL,
    body TEXT NOT NULL, state INTEGER NOT NULL, tries INTEGER NOT NULL, due_at INTEGER NOT NULL, error TEXT
  );
  INSERT INTO meta SELECT 'notices', coalesce(max(last), 0) FROM history;
  `,
  // Which attempts failed, so that they are found without a look at all others, and which of them wrote the same.
  `
  CREATE TABLE fingerprint (id INTEGER PRIMARY KEY, name TEXT NOT NULL, lines TEXT NOT NULL);
  CREATE TABLE failed_attempt (attempt INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL);
  INSERT INTO failed_attempt SELECT id, 0 FROM attempt WHERE outcome BETWEEN 1 AND 5;
  `,
  // How many attempts of a workflow had ended when its last run began.
  `
  ALTER TABLE workflow ADD COLUMN attempts_before INTEGER NOT NULL DEFAULT 0;
  UPDATE workflow SET attempts_before = earlier.count FROM (
    SELECT workflow.id AS id, count(*) AS count
    FROM attempt JOIN definition ON definition.id = attempt.task JOIN workflow ON workflow.id = definition.workflow
    WHERE workflow.run > 1 AND attempt.outcome IS NOT NULL AND attempt.ended_at < workflow.started_at
    GROUP BY workflow.id
  ) AS earlier WHERE earlier.id = workflow.id;
  `,
];

/** Of the schema. */
export const storeVersion = migrations.length;

/** Brings the schema up to date, each step as a whole; that of a new store at once, since every step waits for the disk. `path` is for messages. */
export function migrate(database: DatabaseSync, path: string, steps: readonly string[] = migrations): void {
  const version = versionOf(database, path);
  if (version > steps.length) {
    throw new DroverError(
      'store-newer',
      `${path} has schema version ${version}; this Drover knows versions up to ${steps.length}`,
    );
  }
  const atOnce = version === 0 ? steps.length : 1;
  for (let next = version; next < steps.length; next += atOnce) {
    transaction(database, () => {
      for (const step of steps.slice(next, next + atOnce)) database.exec(step);
      database.prepare("INSERT OR REPLACE INTO meta VALUES ('version', ?)").run(next + atOnce);
    });
  }
}

/** 0 for a file without tables. */
function versionOf(database: DatabaseSync, path: string): number {
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  if (tables.length === 0) return 0;
  const row = tables.some(({ name }) => name === 'meta')
    ? database.prepare("SELECT value FROM meta WHERE key = 'version'").get()
    : undefined;
  if (typeof row?.value !== 'number') throw new DroverError('store-damaged', `${path} is not a store of Drover`);
  return row.value;
}
