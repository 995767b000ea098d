import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { taskId, workflowId } from '../../model/ids.ts';
import { batchOf, definition } from '../samples.ts';
import { smallDisk } from './fixtures/small-disk.ts';
import { migrate, migrations } from './migrations.ts';
import { openSqliteStore } from './store.ts';

const committer = join(import.meta.dirname, 'fixtures', 'committer.ts');
const tasksPerBatch = 20;
const changesPerBatch = 2;

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-sqlite-'));
  file = join(directory, 'drover.db');
});

afterEach(() => rmSync(directory, { recursive: true }));

const refusal = (code: string, path = file) =>
  expect.objectContaining({ code, message: expect.stringContaining(path) });

/** All lines that the process says; `onLine` sees each as it comes. */
async function linesOf(child: ChildProcess, onLine: (lines: readonly string[]) => void = () => {}): Promise<string[]> {
  const lines: string[] = [];
  if (child.stdout === null) throw new Error('the process has no output');
  const reader = createInterface(child.stdout);
  reader.on('line', (line) => {
    lines.push(line);
    onLine(lines);
  });
  await Promise.all([once(reader, 'close'), once(child, 'exit')]);
  return lines;
}

/** How many batches of the committer there are; each must be there as a whole. */
async function wholeBatches(at: string): Promise<number> {
  const store = openSqliteStore(at);
  const count = (await store.history(0, Number.MAX_SAFE_INTEGER)).length / changesPerBatch;
  let [rows, adjustments] = [0, 0];
  for await (const chunk of store.adjustmentRows()) adjustments += chunk.length;
  expect(adjustments).toBe(count);
  for await (const chunk of store.taskRows()) rows += chunk.length;
  const ids = Array.from({ length: count * tasksPerBatch }, (_, offset) => taskId(offset + 1));
  expect(await store.definitions(ids)).toHaveLength(rows);
  expect(rows).toBe(count * tasksPerBatch);
  await expect(store.definitions([taskId(rows + 1)])).rejects.toThrow();
  await store.close();
  return count;
}

describe('a commit', () => {
  it('keeps a long command once, however many tasks have it', async () => {
    const store = await openSqliteStore(directory);
    const command = 'x'.repeat(10_000);
    const definitions = Array.from({ length: 1_000 }, (_, at) => definition(at + 1, { command }));
    await store.commit(batchOf({ definitions }));
    await store.close();
    expect(statSync(file).size).toBeLessThan(500_000);
  });

  it.each(['removed', 'replaced'])(
    'to a file that was %s while it was in use fails, rather than being lost',
    async (how) => {
      const store = openSqliteStore(directory);
      await store.commit(batchOf({}));
      rmSync(file);
      if (how === 'replaced') writeFileSync(file, '');
      await expect(store.commit(batchOf({}))).rejects.toThrow(refusal('store-damaged'));
      await store.close();
    },
  );

  it('that was acknowledged survives kill -9, and one that was not is there as a whole or not at all', async () => {
    for (const killAfter of [1, 2, 3, 5, 8, 13, 21, 34, 55, 89]) {
      const child = spawn(process.execPath, [committer, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
      const lines = await linesOf(child, ({ length }) => {
        if (length === killAfter) child.kill('SIGKILL');
      });
      expect(child.signalCode).toBe('SIGKILL');
      const acknowledged = Number(lines.at(-1));
      expect(await wholeBatches(directory)).toBeGreaterThanOrEqual(acknowledged);
    }
  });

  it('that the disk has no room for fails, and so do all after it; what was acknowledged is there', async () => {
    const disk = smallDisk(directory);
    try {
      const child = disk.run(process.execPath, [committer, disk.directory]);
      const lines = await linesOf(child);
      expect(lines.slice(-2)).toEqual(['store-unwritable', expect.stringContaining('after a commit that failed')]);
      disk.grow();
      expect(await wholeBatches(disk.directory)).toBe(Number(lines.at(-3)));
    } finally {
      disk.remove();
    }
  });

  it('of an environment that is there already keeps it once', async () => {
    const store = openSqliteStore(directory);
    const env = { PATH: '/usr/bin', HOME: '/user' };
    const spec = { cwd: '/', shell: '/bin/sh', env, maxAttempts: 1, terminationMs: 1, failFast: false, open: false };
    for (let id = 1; id <= 5; id++) await store.commit(batchOf({ specs: [{ workflow: workflowId(id), spec }] }));
    await store.close();
    const database = new DatabaseSync(file);
    expect(database.prepare('SELECT count(*) AS count FROM text').get()).toEqual({ count: 1 });
    database.close();
  });
});

describe('opening', () => {
  it('makes a store that writes through a log', async () => {
    const store = openSqliteStore(directory);
    const database = new DatabaseSync(file);
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
    await store.close();
  });

  it('takes an empty file for a new store', async () => {
    writeFileSync(file, '');
    const store = openSqliteStore(directory);
    expect(store.epoch).toBe(1);
    await store.close();
  });

  it('refuses a store of a newer version, and leaves it as it is', async () => {
    await openSqliteStore(directory).close();
    const database = new DatabaseSync(file);
    database.prepare("UPDATE meta SET value = ? WHERE key = 'version'").run(migrations.length + 1);
    database.close();
    expect(() => openSqliteStore(directory)).toThrow(refusal('store-newer'));
    const after = new DatabaseSync(file);
    expect(after.prepare("SELECT value FROM meta WHERE key = 'epoch'").get()).toEqual({ value: 1 });
    after.close();
  });

  it('refuses a file that is not a database', () => {
    writeFileSync(file, 'not a database, but long enough to have a header of one hundred bytes. '.repeat(20));
    expect(() => openSqliteStore(directory)).toThrow(refusal('store-damaged'));
  });

  it('refuses a database of someone else', () => {
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE other (id INTEGER)');
    database.close();
    expect(() => openSqliteStore(directory)).toThrow(refusal('store-damaged'));
  });

  it('refuses a database whose pages are damaged', async () => {
    await openSqliteStore(directory).close();
    const bytes = readFileSync(file);
    // The header stays, the schema behind it does not.
    writeFileSync(file, bytes.fill(0xff, 100, 4096));
    expect(() => openSqliteStore(directory)).toThrow(refusal('store-damaged'));
  });

  it('refuses a file that was emptied, but takes one beside which there is no output yet', async () => {
    await openSqliteStore(directory).close();
    truncateSync(file, 1);
    mkdirSync(join(directory, 'output'));
    expect(() => openSqliteStore(directory)).toThrow(refusal('store-damaged'));
    expect(readFileSync(file)).toHaveLength(1);
  });

  it('finds a damaged page when it reads it, and says so as when it opens', async () => {
    await openSqliteStore(directory).close();
    const database = new DatabaseSync(file);
    const page = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'workflow'").get()?.rootpage;
    database.close();
    const bytes = readFileSync(file);
    writeFileSync(file, bytes.fill(0xff, (Number(page) - 1) * 4096, Number(page) * 4096));
    const store = openSqliteStore(directory);
    await expect(store.workflowRows()[Symbol.asyncIterator]().next()).rejects.toEqual(refusal('store-damaged'));
    await store.close();
  });

  it('refuses a path that can not be a file, and one below a file', () => {
    mkdirSync(file);
    expect(() => openSqliteStore(directory)).toThrow(refusal('store-unwritable'));
    const below = join(directory, 'file');
    writeFileSync(below, '');
    expect(() => openSqliteStore(below)).toThrow(refusal('store-unwritable', join(below, 'drover.db')));
  });
});

describe('a migration', () => {
  const older = ['CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID; CREATE TABLE sheep (id INTEGER)'];
  const step = 'ALTER TABLE sheep ADD COLUMN name TEXT';

  const versionOf = (database: DatabaseSync) =>
    database.prepare("SELECT value FROM meta WHERE key = 'version'").get()?.value;

  it('brings an older store up to date, step by step, with what is in it', () => {
    const database = new DatabaseSync(file);
    migrate(database, file, older);
    database.exec('INSERT INTO sheep VALUES (7)');
    migrate(database, file, [...older, step, "UPDATE sheep SET name = 'Dolly'"]);
    expect(database.prepare('SELECT * FROM sheep').all()).toEqual([{ id: 7, name: 'Dolly' }]);
    expect(versionOf(database)).toBe(3);
    database.close();
  });

  it('finds the failed attempts of a store that did not list them', async () => {
    const database = new DatabaseSync(file);
    const at = migrations.findIndex((text) => text.includes('failed_attempt'));
    migrate(database, file, migrations.slice(0, at));
    const insert = database.prepare('INSERT INTO attempt VALUES (?, ?, 1, 0, 1, 1, 1, 2, ?, ?, 1, 1, NULL, NULL)');
    for (const [id, outcome, detail] of [
      [1, 0, null],
      [2, 1, '{"code":3}'],
      [3, null, null],
      [4, 4, '{"what":"worker"}'],
      [5, 6, null],
    ] as const) {
      insert.run(id, id, outcome, detail);
    }
    database.close();
    const store = openSqliteStore(directory);
    const found = await store.failedAttempts(0, 10);
    expect(found.map(({ row, fingerprint }) => [row.id, row.outcome?.kind, fingerprint])).toEqual([
      [2, 'exited', 0],
      [4, 'lost', 0],
    ]);
    await store.close();
  });

  it('finds how many attempts had ended before the last run of each workflow', async () => {
    const database = new DatabaseSync(file);
    const at = migrations.findIndex((text) => text.includes('attempts_before'));
    migrate(database, file, migrations.slice(0, at));
    const workflow = database.prepare("INSERT INTO workflow VALUES (?, '{}', 4, 0, NULL, NULL, ?, 1, 10, 0, NULL)");
    const definition = database.prepare('INSERT INTO definition VALUES (?, ?, 1, NULL, NULL, NULL)');
    const attempt = database.prepare('INSERT INTO attempt VALUES (?, ?, 1, 0, 1, 1, 1, ?, ?, NULL, 1, 1, NULL, NULL)');
    for (const [id, run] of [
      [1, 2],
      [2, 1],
      [3, 2],
    ] as const) {
      workflow.run(id, run);
      definition.run(id, id);
    }
    for (const [id, task, endedAt, outcome] of [
      [1, 1, 5, 1],
      [2, 1, 6, 1],
      [3, 1, 12, 0],
      [4, 1, 0, null],
      [5, 2, 5, 1],
      [6, 3, 12, 0],
    ] as const) {
      attempt.run(id, task, endedAt, outcome);
    }
    database.close();
    const store = openSqliteStore(directory);
    const rows = (await Array.fromAsync(store.workflowRows())).flat();
    expect(rows.map(({ attemptsBefore }) => attemptsBefore)).toEqual([2, 0, 0]);
    await store.close();
  });

  it('that fails leaves the store at the version before it', () => {
    const database = new DatabaseSync(file);
    migrate(database, file, older);
    expect(() => migrate(database, file, [...older, step, `${step}2; SELECT nonsense`])).toThrow();
    expect(versionOf(database)).toBe(2);
    expect(
      database
        .prepare('SELECT * FROM sheep')
        .columns()
        .map(({ name }) => name),
    ).toEqual(['id', 'name']);
    database.close();
  });
});
