/** What every store must give back of attempts that failed, and of tags. */
import assert from 'node:assert/strict';
import { attemptId } from '../model/ids.ts';
import { type ConformanceCase, committed } from './conformance.ts';
import type { FingerprintRow } from './failure-rows.ts';
import { attemptRow, batchOf, definition } from './samples.ts';

const exited = { kind: 'exited', code: 3 } as const;
const prints: readonly FingerprintRow[] = [
  { id: 1, name: 'f3a9', lines: 'no such file: <path>\nünï "quoted" #' },
  { id: 2, name: 'f3a91', lines: 'x' },
];
const failureOf = (attempt: number, fingerprint: number) => ({ attempt: attemptId(attempt), fingerprint });

export const failureCases: readonly ConformanceCase[] = [
  {
    name: 'failed attempts come back in the order of their ids, with their fingerprints, and in pieces',
    run(place) {
      const rows = [1, 2, 3, 4].map((id) => attemptRow(id, id, id === 2 ? {} : { endedAt: 2_000, outcome: exited }));
      const batches = [
        batchOf({
          rows: { attempts: rows.slice(0, 3) },
          failures: { attempts: [failureOf(3, 1), failureOf(1, 0)], fingerprints: prints.slice(0, 1) },
        }),
        batchOf({
          rows: { attempts: rows.slice(3) },
          failures: { attempts: [failureOf(4, 2)], fingerprints: prints.slice(1) },
        }),
      ];
      return committed(place, batches, async (reader) => {
        const [first, , third, fourth] = rows;
        const all = [first, third, fourth].map((row, at) => ({ row, fingerprint: at }));
        assert.deepEqual(await reader.failedAttempts(0, 10), all);
        assert.deepEqual(await reader.failedAttempts(1, 1), all.slice(1, 2));
        assert.deepEqual(await reader.failedAttempts(4, 10), []);
        assert.deepEqual(await reader.fingerprints(), prints);
      });
    },
  },
  {
    name: 'the failure of an attempt that is corrected is replaced',
    run(place) {
      const lost = attemptRow(1, 1, { endedAt: 2_000, outcome: { kind: 'lost', what: 'worker' } });
      const corrected = { ...lost, outcome: exited };
      const batches = [
        batchOf({ rows: { attempts: [lost] }, failures: { attempts: [failureOf(1, 0)], fingerprints: [] } }),
        batchOf({
          rows: { attempts: [corrected] },
          failures: { attempts: [failureOf(1, 1)], fingerprints: prints.slice(0, 1) },
        }),
      ];
      return committed(place, batches, async (reader) => {
        assert.deepEqual(await reader.failedAttempts(0, 10), [{ row: corrected, fingerprint: 1 }]);
      });
    },
  },
  {
    name: 'tags come back of those tasks of a range that have some',
    run(place) {
      const tags = { model: 'ünï "x"', n: '' };
      const specs = [{ command: 'a' }, { command: 'b', tags }, { command: 'c', priority: 3 }, { tags: { n: '1' } }];
      const definitions = specs.map((spec, at) => definition(at + 1, spec));
      return committed(place, [batchOf({ definitions })], async (reader) => {
        assert.deepEqual(await reader.tagsBetween(1, 9), [
          { task: 2, tags },
          { task: 4, tags: { n: '1' } },
        ]);
        assert.deepEqual(await reader.tagsBetween(3, 3), []);
      });
    },
  },
];
