/** What every store must do for those who ask: their tokens, what they were answered, the names by which they ask. */
import assert from 'node:assert/strict';
import { workflowId } from '../model/ids.ts';
import { type ConformanceCase, committed } from './conformance.ts';
import type { NoticeRow } from './notice-row.ts';
import { batchOf, spec, tokenRow } from './samples.ts';

export const accessCases: readonly ConformanceCase[] = [
  {
    name: 'tokens come back in the order of their ids, each as it was last written, without those that were removed',
    run(place) {
      const rows = [3, 1, 2].map((id) => tokenRow(id));
      const last = [tokenRow(1, { revokedAt: 9 }), tokenRow(3, { name: undefined, expiresAt: undefined })];
      const batches = [
        batchOf({ tokens: { written: rows, removed: [] } }),
        batchOf({ tokens: { written: last, removed: [2] } }),
      ];
      return committed(place, batches, async (reader) => assert.deepEqual(await reader.tokens(), last));
    },
  },
  {
    name: 'answers come back in the order of their ids, without those that were forgotten',
    run(place) {
      const row = (id: number) => ({ id, key: `t1 kéy ${id}`, digest: 'd', at: id, reply: '{"type":"done"}' });
      const batches = [
        batchOf({ answers: { written: [row(1), row(2), row(3)], forgottenTo: 0 } }),
        batchOf({ answers: { written: [row(4)], forgottenTo: 2 } }),
      ];
      return committed(place, batches, async (reader) => assert.deepEqual(await reader.answers(), [row(3), row(4)]));
    },
  },
  {
    name: 'notices come back in the order of their ids, each as it was last written, with how far history was looked through',
    run(place) {
      const row = (id: number, changed: Partial<NoticeRow> = {}): NoticeRow => ({
        ...{ id, workflow: workflowId(3), rule: 1, run: 2, at: 5, body: '{"ü":1}' },
        ...{ state: 'pending', tries: 0, dueAt: 9, error: undefined, ...changed },
      });
      const told = row(1, { state: 'given-up', tries: 3, error: 'no answer' });
      const batches = [
        batchOf({ notices: { cursor: 7, written: [row(3), row(1), row(2)], removed: [] } }),
        batchOf({ notices: { cursor: 8, written: [told], removed: [2] } }),
      ];
      return committed(place, batches, async (reader) =>
        assert.deepEqual(await reader.notices(), { cursor: 8, rows: [told, row(3)] }),
      );
    },
  },
  {
    name: 'workflows are found by their names, the newest first',
    run(place) {
      const specs = [1, 2, 3].map((id) => ({
        workflow: workflowId(id),
        spec: id === 2 ? spec : { ...spec, name: 'ni"ght' },
      }));
      return committed(place, [batchOf({ specs })], async (reader) => {
        assert.deepEqual(await reader.workflowsNamed('ni"ght'), [3, 1]);
        assert.deepEqual(await reader.workflowsNamed('other'), []);
      });
    },
  },
];
