/** What every store must do for resources: what tasks need by now, which groups they are in, which limits there are. */
import assert from 'node:assert/strict';
import type { Change, NeedChange } from '../core/change.ts';
import { attemptId, taskId } from '../model/ids.ts';
import { all, type ConformanceCase, committed } from './conformance.ts';
import { added, batchOf, command, w1, workflowRow } from './samples.ts';

const adjusted = (task: number, number: number, changed: Partial<NeedChange> = {}): NeedChange => ({
  task: taskId(task),
  number,
  need: { queue: 'default', cpus: 0.5, memoryBytes: 150_000_000 * number, groups: ['tag:ä=b', 'template:t'] },
  resource: 'memory',
  why: 'memory 100 MB → 150 MB (×1.5)',
  attempt: attemptId(10 * task + number),
  ...changed,
});

const [raised, refused] = (['need-adjusted', 'need-refused'] as const).map(
  (type) =>
    (change: NeedChange): Change => ({ type, ...change }),
) as [(change: NeedChange) => Change, (change: NeedChange) => Change];

export const resourceCases: readonly ConformanceCase[] = [
  {
    name: 'B32: adjustments come back by task and number, and one that was refused until the next takes its place',
    run(place) {
      const first = [adjusted(2, 1), adjusted(1, 1), adjusted(1, 2, { resource: 'runtime' })];
      const [large, larger] = [adjusted(1, 3), adjusted(1, 3, { why: 'there is a larger worker' })];
      const batches = [
        batchOf({ at: 1_000, changes: first.map(raised) }),
        batchOf({ at: 2_000, changes: [refused(large)] }),
        batchOf({ at: 3_000, changes: [refused(adjusted(2, 2)), raised(larger)] }),
      ];
      const rows = [
        { ...adjusted(1, 1), isRefused: false, at: 1_000 },
        { ...adjusted(1, 2, { resource: 'runtime' }), isRefused: false, at: 1_000 },
        { ...larger, isRefused: false, at: 3_000 },
        { ...adjusted(2, 1), isRefused: false, at: 1_000 },
        { ...adjusted(2, 2), isRefused: true, at: 3_000 },
      ];
      return committed(place, batches, async (reader) => {
        assert.deepEqual(await all(reader.adjustmentRows()), rows);
        assert.deepEqual(await reader.adjustmentsOf([taskId(2), taskId(3), taskId(1)]), [
          ...rows.slice(3),
          ...rows.slice(0, 3),
        ]);
      });
    },
  },
  {
    name: 'more adjustments than one read takes are all there, once',
    run(place) {
      const many = Array.from({ length: 10_001 }, (_, at) => adjusted(1 + Math.floor(at / 3), 1 + (at % 3)));
      return committed(place, [batchOf({ changes: many.map(raised) })], async (reader) => {
        const rows = await all(reader.adjustmentRows());
        assert.deepEqual(
          rows.map(({ task, number }) => [task, number]),
          many.map(({ task, number }) => [task, number]),
        );
      });
    },
  },
  {
    name: 'groups that tasks came into come back in the order of their writing',
    run(place) {
      const range = (from: number, to: number) => ({ from: taskId(from), to: taskId(to) });
      const groupings = [
        { group: 'tag:b=1', tasks: [range(5, 9), range(11, 11)] },
        { group: 'tag:a=', tasks: [range(1, 2)] },
      ];
      const batches = groupings.map((grouping) => batchOf({ changes: [{ type: 'tasks-grouped', ...grouping }] }));
      return committed(place, batches, async (reader) => {
        assert.deepEqual(await all(reader.groupingRows()), groupings);
      });
    },
  },
  {
    name: 'limits come back by name, each as it was last set, without those that were lifted',
    run(place) {
      const set = (name: string, max?: number): Change => ({
        type: 'limit-set',
        name,
        ...(max === undefined ? {} : { max }),
      });
      const batches = [
        batchOf({ changes: [set('b', 1), set('a', 0.5), set('ç', 0)] }),
        batchOf({ changes: [set('b'), set('a', 2.25), set('never')] }),
      ];
      return committed(place, batches, async (reader) => {
        assert.deepEqual(await reader.limitRows(), [
          { name: 'a', max: 2.25 },
          { name: 'ç', max: 0 },
        ]);
      });
    },
  },
  {
    name: 'the limits of a workflow are those of its row',
    run(place) {
      const limited = workflowRow(1, { concurrency: { workflow: 3, templates: { t: 0 }, tags: { 'a=b': 2 } } });
      return committed(place, [batchOf({ rows: { workflows: [limited, workflowRow(2)] } })], async (reader) => {
        assert.deepEqual(await all(reader.workflowRows()), [limited, workflowRow(2)]);
      });
    },
  },
  {
    name: 'it is known when a task was added',
    run(place) {
      const batches = [
        batchOf({ at: 1_000, changes: [added(1, 1, [command, command])] }),
        batchOf({ at: 2_000, changes: [added(3, 3, []), added(3, 3, [command], w1)] }),
      ];
      return committed(place, batches, async (reader) => {
        const times = await Promise.all([1, 2, 3].map((task) => reader.addedAt(taskId(task))));
        assert.deepEqual(times, [1_000, 1_000, 2_000]);
      });
    },
  },
];
