import { expect, it } from 'vitest';
import { taskId } from '../model/ids.ts';
import { backoffMs } from '../model/limits.ts';
import { loadCluster } from './load.ts';
import { MemoryDisk } from './memory/store.ts';
import { batchOf, command, taskRow, w1, workflowRow } from './samples.ts';

it('counts the attempts that have ended, of the last run and of all', async () => {
  const store = new MemoryDisk('generation').open();
  const tasks = [
    taskRow(1, { state: 'done', attemptNumber: 3, lastAttempt: 5 }),
    taskRow(2, { state: 'running', attemptNumber: 2, lastAttempt: 4 }),
  ];
  const seeds = [command, command, command];
  await store.commit(
    batchOf({
      rows: { workflows: [workflowRow(1, { state: 'running', run: 2, attemptsBefore: 1 })], tasks },
      changes: [{ type: 'tasks-added', workflow: w1, first: taskId(1), firstIndex: 1, seeds }],
    }),
  );
  expect((await loadCluster(store, 1)).workflow(w1)).toMatchObject({ attemptsEnded: 4, attemptsBefore: 1 });
});

it('lets no task wait longer than a backoff lasts, when the wall clock was set back since', async () => {
  const disk = new MemoryDisk('generation');
  const now = 1_700_000_000_000;
  const store = disk.open();
  await store.commit(
    batchOf({
      rows: {
        workflows: [workflowRow(1)],
        tasks: [taskRow(1, { notBefore: now + 3_600_000 }), taskRow(2, { notBefore: now + 5 })],
      },
      changes: [{ type: 'tasks-added', workflow: w1, first: taskId(1), firstIndex: 1, seeds: [command, command] }],
    }),
  );
  const { tasks } = await loadCluster(store, now);
  const latest = now + backoffMs.lost.max;
  expect([tasks.notBefore(taskId(1)), tasks.notBefore(taskId(2))]).toEqual([latest, now + 5]);
});
