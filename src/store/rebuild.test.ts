/**
 * Random operations of definers, workers and the controller itself, committed turn by turn: whenever one looks, the
 * cluster loaded from the rows and the one folded from history are the live one.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginning, type Played, run, turns } from '../../test/core/operations.ts';
import { madeUp } from '../../test/set-up/made-up.ts';
import type { Change } from '../core/change.ts';
import type { Cluster } from '../core/cluster.ts';
import { checkInvariants } from '../core/invariants.ts';
import { Turn } from '../core/turn.ts';
import { taskId } from '../model/ids.ts';
import { foldHistory } from './fold.ts';
import { loadCluster } from './load.ts';
import { MemoryDisk } from './memory/store.ts';
import { normalForm } from './normal-form.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { Batch, Store } from './store.ts';

function batchOf(turn: Turn): Batch {
  const definitions = turn.changes.flatMap((change: Change) =>
    change.type !== 'tasks-added'
      ? []
      : change.seeds.map(({ kind }, offset) => ({
          id: taskId(change.first + offset),
          workflow: change.workflow,
          index: change.firstIndex + offset,
          spec: kind === 'command' ? { command: 'true' } : {},
        })),
  );
  return { at: turn.now, changes: turn.changes, rows: turn.cluster.takeDirty(), specs: [], definitions, output: [] };
}

async function expectSame(store: Store, live: Cluster, now: number): Promise<void> {
  const expected = normalForm(live);
  const loaded = await loadCluster(store, now);
  checkInvariants(loaded);
  expect(normalForm(loaded)).toEqual(expected);
  // However it is cut into reads: a turn may be read in parts.
  for (const entriesPerRead of [undefined, 1, 7]) {
    const folded = await foldHistory(store, entriesPerRead);
    checkInvariants(folded);
    expect(normalForm(folded)).toEqual(expected);
  }
}

async function play(store: Store, played: readonly Played[]) {
  let now = 1_000;
  const first = beginning(now);
  const { cluster } = first;
  await store.commit(batchOf(first));
  for (const [number, { operations: some, later }] of played.entries()) {
    now += later;
    const turn = new Turn(cluster, now);
    for (const one of some) run(turn, one);
    await store.commit(batchOf(turn));
    checkInvariants(cluster);
    if (number % 4 === 3) await expectSame(store, cluster, now);
  }
  await expectSame(store, cluster, now);
}

describe('a cluster is rebuilt', () => {
  it('from rows and from history as it was, whatever happened (memory)', async () => {
    await fc.assert(
      fc.asyncProperty(turns, (played) => play(new MemoryDisk('generation').open(), played)),
      madeUp(200),
    );
  });

  it('from rows and from history as it was, whatever happened (SQLite)', async () => {
    await fc.assert(
      fc.asyncProperty(turns, async (played) => {
        const directory = mkdtempSync(join(tmpdir(), 'drover-rebuild-'));
        const store = openSqliteStore(directory);
        try {
          await play(store, played);
        } finally {
          await store.close();
          rmSync(directory, { recursive: true });
        }
      }),
      madeUp(40),
    );
  });
});
