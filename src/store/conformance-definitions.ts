/** What every store must give back of what was said of tasks: definitions, specifications, edges, and where output lies. */
import assert from 'node:assert/strict';
import type { Change, TaskSeed } from '../core/change.ts';
import { attemptId, taskId, workflowId } from '../model/ids.ts';
import type { TaskSpec } from '../protocol/spec.ts';
import { all, type ConformanceCase, committed } from './conformance.ts';
import { added, batchOf, command, definition, edges, spec } from './samples.ts';
import type { OutputPiece } from './store.ts';

const oddCommands: readonly string[] = [
  'echo one\necho two\r\n',
  'printf "a\0b"',
  "echo 'ünï' 🐑 \u202e \ufeff",
  ' ',
  `echo ${'x'.repeat(1024 * 1024)}`,
];

export const definitionCases: readonly ConformanceCase[] = [
  {
    name: 'definitions come back in the order asked for, with odd and with very long commands',
    run(place) {
      const full: TaskSpec = {
        command: 'x',
        name: 'n\0ame',
        arrayIndex: -5,
        held: true,
        maxAttempts: 4,
        timeoutMs: 1,
        until: 2e12,
      };
      const specs: TaskSpec[] = [
        ...oddCommands.map((line) => ({ command: line })),
        {},
        { check: true, name: 'join' },
        full,
      ];
      const known = specs.map((taskSpec, offset) => definition(offset + 1, taskSpec));
      const batches = [known.slice(0, 3), known.slice(3)].map((some) => batchOf({ definitions: some }));
      return committed(place, batches, async (reader) => {
        const backwards = [...known].reverse();
        assert.deepEqual(await reader.definitions(backwards.map(({ id }) => id)), backwards);
        await assert.rejects(reader.definitions([taskId(1), taskId(99)]));
      });
    },
  },
  {
    name: 'commands that many tasks have come back for each of them, also those of later batches',
    run(place) {
      const commands = ['long '.repeat(100), 'other '.repeat(200), 'short'];
      const known = Array.from({ length: 60 }, (_, offset) =>
        definition(offset + 1, {
          command: commands[offset % 3] as string,
          ...(offset % 2 ? { name: `n${offset}` } : {}),
        }),
      );
      const batches = [known.slice(0, 1), known.slice(1, 30), known.slice(30)];
      return committed(
        place,
        batches.map((some) => batchOf({ definitions: some })),
        async (reader) => assert.deepEqual(await reader.definitions(known.map(({ id }) => id)), known),
      );
    },
  },
  {
    name: 'specifications come back, be their environments alike or not',
    run(place) {
      const specs = [spec, { ...spec, name: 'named', timeoutMs: 5 }, { ...spec, env: {} }].map((of, offset) => ({
        workflow: workflowId(offset + 1),
        spec: of,
      }));
      return committed(
        place,
        [batchOf({ specs: specs.slice(0, 2) }), batchOf({ specs: specs.slice(2) })],
        async (reader) => {
          for (const { workflow, spec: expected } of specs)
            assert.deepEqual(await reader.workflowSpec(workflow), expected);
          assert.equal(await reader.workflowSpec(workflowId(9)), undefined);
        },
      );
    },
  },
  {
    name: 'tasks come back as they were added together, with their seeds',
    run(place) {
      const seeds: TaskSeed[] = [command, command, { kind: 'join' }, { kind: 'check', held: true }, command];
      const special: TaskSeed[] = [{ kind: 'command', maxAttempts: 7, until: 2e12 }, command];
      const changes = [added(1, 1, seeds), added(6, 1, special, workflowId(2)), added(8, 6, [command])];
      const batches = changes.map((change) => batchOf({ changes: [change] }));
      return committed(place, batches, async (reader) => {
        assert.deepEqual(
          await all(reader.seedRuns()),
          changes.map(({ type: _, ...run }) => run),
        );
      });
    },
  },
  {
    name: 'edges come back in the order of their writing, however many come at once',
    run(place) {
      const kinds = ['success', 'any', 'failure'] as const;
      const changes = Array.from({ length: 1_000 }, (_, at): Change => {
        if (at % 300 === 299) return { type: 'edge-removed', parent: taskId(at), child: taskId(at + 1) };
        return { type: 'edges-added', edges: edges([at + 1, at + 1], [at + 2, at + 5], kinds[at % 3] ?? 'any') };
      });
      const rows = changes.map((change) => {
        if (change.type === 'edges-added') return { type: 'added', edges: change.edges };
        const { parent, child } = change as Extract<Change, { readonly type: 'edge-removed' }>;
        return { type: 'removed', parent, child };
      });
      const batches = [changes.slice(0, 3), changes.slice(3, 700), changes.slice(700)];
      return committed(
        place,
        batches.map((some) => batchOf({ changes: some })),
        async (reader) => assert.deepEqual(await all(reader.edgeRows()), rows),
      );
    },
  },
  {
    name: 'edges come back in the order of their writing, removed ones as removed',
    run(place) {
      const one = edges([1, 1], [2, 9], 'success');
      const two = edges([3, 8], [10, 10], 'failure');
      const changes: Change[] = [
        { type: 'edges-added', edges: one },
        { type: 'edge-removed', parent: taskId(1), child: taskId(5) },
        { type: 'edges-added', edges: two },
        { type: 'edges-added', edges: edges([1, 1], [5, 5], 'any') },
      ];
      const batches = [changes.slice(0, 2), changes.slice(2)].map((some) => batchOf({ changes: some }));
      return committed(place, batches, async (reader) => {
        assert.deepEqual(await all(reader.edgeRows()), [
          { type: 'added', edges: one },
          { type: 'removed', parent: 1, child: 5 },
          { type: 'added', edges: two },
          { type: 'added', edges: edges([1, 1], [5, 5], 'any') },
        ]);
      });
    },
  },
  {
    name: 'pieces of output come back by stream and offset, and the end of the packed files is known',
    run(place) {
      const piece = (attempt: number, stream: 'stdout' | 'stderr', offset: number, file: number, position: number) =>
        ({ attempt: attemptId(attempt), stream, offset, length: 10, file, position }) satisfies OutputPiece;
      const first = [piece(1, 'stderr', 0, 1, 20), piece(1, 'stdout', 10, 1, 10), piece(1, 'stdout', 0, 1, 0)];
      const second = [piece(2, 'stdout', 0, 2, 30), piece(1, 'stdout', 20, 2, 0)];
      return committed(place, [batchOf({ output: first }), batchOf({ output: second })], async (reader) => {
        assert.deepEqual(await reader.outputPieces(attemptId(1)), [first[2], first[1], second[1], first[0]]);
        assert.deepEqual(await reader.outputPieces(attemptId(3)), []);
        assert.deepEqual(await reader.outputEnd(), { file: 2, length: 40 });
      });
    },
  },
];
