/**
 * What every store must do, as a list of cases without a test framework: store.test.ts runs it over each of them.
 * A case writes through one opening of the store, and looks again through a second one.
 */
import assert from 'node:assert/strict';
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Change, NeedChange } from '../core/change.ts';
import { attemptId, taskId } from '../model/ids.ts';
import { usageSamplesMax } from '../model/limits.ts';
import { outcomeKinds, taskStates, type UsageMetric, workflowStates } from '../model/states.ts';
import { changeTypes } from './history.ts';
import {
  added,
  attemptRow,
  batchOf,
  command,
  definition,
  edges,
  k1,
  rules,
  spec,
  taskRow,
  w1,
  workerRow,
  workflowRow,
} from './samples.ts';
import type { Batch, Reader, Store, UsageSample } from './store.ts';

/** Where one store lies: it can be opened again and again, once the last one who did has closed it. */
export interface Place {
  open(): Promise<Store>;
}

export interface ConformanceCase {
  readonly name: string;
  run(place: Place): Promise<void>;
}

export async function all<Row>(chunks: AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}

/** Commits, then looks twice: at once, and after the store was closed and opened again. */
export async function committed(place: Place, batches: readonly Batch[], look: (reader: Reader) => Promise<void>) {
  const store = await place.open();
  for (const batch of batches) await store.commit(batch);
  await look(store);
  await store.close();
  const again = await place.open();
  await look(again);
  await again.close();
}

const identity: readonly ConformanceCase[] = [
  {
    name: 'a new store is empty',
    run: (place) =>
      committed(place, [], async (reader) => {
        const lists: AsyncIterable<readonly unknown[]>[] = [
          ...[reader.workflowRows(), reader.seedRuns(), reader.edgeRows()],
          ...[reader.taskRows(), reader.openAttempts(), reader.workerRows()],
          ...[reader.adjustmentRows(), reader.groupingRows()],
        ];
        for (const list of lists) assert.deepEqual(await all(list), []);
        assert.equal(await reader.lastAttempt(), 0);
        assert.deepEqual(await reader.history(0, 10), []);
        assert.deepEqual(await reader.outputEnd(), { file: 0, length: 0 });
        assert.equal(await reader.workflowSpec(w1), undefined);
        assert.deepEqual(await reader.limitRows(), []);
        assert.equal(await reader.addedAt(taskId(1)), 0);
      }),
  },
  {
    name: 'the epoch rises by one with every opening, the generation stays',
    async run(place) {
      const seen: [number, string][] = [];
      for (let opening = 0; opening < 3; opening++) {
        const store = await place.open();
        seen.push([store.epoch, store.generation]);
        await store.close();
      }
      const [[, generation]] = seen as [[number, string]];
      assert.notEqual(generation, '');
      assert.deepEqual(
        seen,
        [1, 2, 3].map((epoch) => [epoch, generation]),
      );
    },
  },
  {
    name: 'a generation that is committed is there at the next opening',
    async run(place) {
      const store = await place.open();
      const none = { changes: [], specs: [], definitions: [], output: [] };
      const rows = { workflows: [], tasks: [], attempts: [], workers: [] };
      await store.commit({ at: 1, ...none, rows, generation: 'another' });
      await store.close();
      const next = await place.open();
      assert.equal(next.generation, 'another');
      await next.close();
    },
  },
];

const rows: readonly ConformanceCase[] = [
  {
    name: 'workflow rows come back in the order of their ids, each as it was last written',
    run(place) {
      const last = workflowStates.map((state, offset) => workflowRow(offset + 1, { state }));
      const stopped = workflowRow(1, {
        stop: 'fail-fast',
        haltMode: 'kill',
        open: false,
        run: 2,
        startedAt: 5,
        endedAt: 6,
        attemptsBefore: 3,
      });
      const first = batchOf({ rows: { workflows: [...last].reverse() } });
      return committed(place, [first, batchOf({ rows: { workflows: [stopped] } })], async (reader) => {
        assert.deepEqual(await all(reader.workflowRows()), [stopped, ...last.slice(1)]);
      });
    },
  },
  {
    name: 'task rows come back in the order of their ids, each as it was last written, and no others',
    run(place) {
      const used = { attempts: 1, resources: 2, lost: 3, 'never-started': 4 };
      const full = {
        reason: 2,
        held: true,
        priority: -1_000,
        used,
        attemptNumber: 10,
        lastAttempt: 2 ** 40,
        notBefore: 1_700_000_000_000,
      };
      const last = taskStates.map((state, offset) => taskRow(2 * offset + 1, { ...full, state }));
      const first = last.map(({ id }) => taskRow(id));
      const batches = [first, last].map((tasks) => batchOf({ rows: { tasks } }));
      return committed(place, batches, async (reader) => assert.deepEqual(await all(reader.taskRows()), last));
    },
  },
  {
    name: 'more rows than one chunk holds come back whole and in order',
    run(place) {
      const tasks = Array.from({ length: 20_001 }, (_, offset) => taskRow(offset + 1, { attemptNumber: offset % 7 }));
      const changes = Array.from({ length: 301 }, (_, offset) => added(offset + 1, offset + 1, [command]));
      return committed(place, [batchOf({ rows: { tasks }, changes })], async (reader) => {
        assert.deepEqual(await all(reader.taskRows()), tasks);
        assert.deepEqual(
          await all(reader.seedRuns()),
          changes.map(({ type: _, ...run }) => run),
        );
      });
    },
  },
  {
    name: 'worker rows come back, those that are gone too',
    run(place) {
      const workers = [
        workerRow(1, { state: 'gone', goneFor: 'it was silent' }),
        workerRow(2, { kind: 'http', owner: 't3' }),
        workerRow(3, { capacity: { queue: 'big', memoryBytes: 2 ** 40, gpus: 2, pools: { scratch: 0.5 }, endsAt: 5 } }),
      ];
      const batches = [batchOf({ rows: { workers: [workerRow(1)] } }), batchOf({ rows: { workers } })];
      return committed(place, batches, async (reader) => assert.deepEqual(await all(reader.workerRows()), workers));
    },
  },
];

const attemptsWith = (outcomes: readonly AttemptRow['outcome'][]): AttemptRow[] =>
  outcomes.map((outcome, offset) => attemptRow(offset + 1, offset + 1, { outcome }));

const attempts: readonly ConformanceCase[] = [
  {
    name: 'C15: an attempt comes back as it was recorded, with every kind of outcome',
    run(place) {
      const outcomes: NonNullable<AttemptRow['outcome']>[] = [
        { kind: 'succeeded' },
        { kind: 'exited', code: 3 },
        { kind: 'signalled', signal: 9 },
        { kind: 'resource', resource: 'memory' },
        { kind: 'lost', what: 'cylinder' },
        { kind: 'never-started', why: 'refused', message: 'nö\n' },
        { kind: 'cancelled' },
        { kind: 'cancelled', signal: 15 },
      ];
      assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(outcomeKinds));
      const ended = { startedAt: 1_500, endedAt: 2_500, signalledFor: 'timeout' };
      const known = attemptsWith(outcomes).map((row) => ({ ...row, ...ended, usage: { wallMs: 1_000, cpuMs: 12.5 } }));
      const live = attemptRow(20, 20, { startedAt: 7, usage: { wallMs: 1, cpuMs: 2, peakBytes: 2 ** 41 } });
      return committed(place, [batchOf({ rows: { attempts: [...known, live] } })], async (reader) => {
        const ids = [20, 99, ...known.map(({ id }) => id)].map(attemptId);
        assert.deepEqual(await reader.attempts(ids), [live, undefined, ...known]);
        assert.equal(await reader.lastAttempt(), 20);
      });
    },
  },
  {
    name: 'C15: open attempts are those without an end, and lost ones that are the last of their task',
    run(place) {
      const lost = { kind: 'lost', what: 'worker' } as const;
      const written = [
        ...attemptsWith([undefined, { kind: 'succeeded' }, lost, lost]),
        attemptRow(5, 4, { number: 2, previous: 4, outcome: { kind: 'exited', code: 1 } }),
        attemptRow(6, 2, { number: 2, previous: 2 }),
      ];
      const lasts = [1, 6, 3, 5].map((lastAttempt, offset) => taskRow(offset + 1, { lastAttempt }));
      const batch = batchOf({ rows: { attempts: written, tasks: lasts } });
      return committed(place, [batch], async (reader) => {
        assert.deepEqual(
          (await all(reader.openAttempts())).map(({ id }) => id),
          [1, 3, 6],
        );
        assert.deepEqual((await all(reader.openAttempts()))[1], written[2]);
      });
    },
  },
  {
    name: 'attempts are read in pages, forwards and backwards',
    run(place) {
      const written = [1, 4, 5, 9].map((id) => attemptRow(id, id));
      return committed(place, [batchOf({ rows: { attempts: written } })], async (reader) => {
        const ids = async (...page: [number, number, boolean]): Promise<number[]> =>
          (await reader.attemptsFrom(...page)).map(({ id }) => id);
        assert.deepEqual(await reader.attemptsFrom(0, 10, false), written);
        assert.deepEqual(await ids(1, 2, false), [4, 5]);
        assert.deepEqual(await ids(9, 2, false), []);
        assert.deepEqual(await ids(Number.MAX_SAFE_INTEGER, 3, true), [9, 5, 4]);
        assert.deepEqual(await ids(4, 3, true), [1]);
      });
    },
  },
  {
    name: 'the attempts of a task are found from its last one back',
    run(place) {
      const chain = [
        attemptRow(1, 1),
        attemptRow(4, 1, { number: 2, previous: 1 }),
        attemptRow(9, 1, { number: 3, previous: 4 }),
      ];
      return committed(place, [batchOf({ rows: { attempts: [...chain, attemptRow(5, 2)] } })], async (reader) => {
        assert.deepEqual(await reader.attemptsBack(attemptId(9)), chain);
        assert.deepEqual(await reader.attemptsBack(attemptId(4)), chain.slice(0, 2));
        assert.deepEqual(await reader.attemptsBack(attemptId(7)), []);
      });
    },
  },
];

const usage: readonly ConformanceCase[] = [
  {
    name: 'usage samples come back in the order in which they were given, and past a limit every so many of them',
    run(place) {
      const sample = (attempt: number, metric: UsageMetric, value: number): UsageSample => ({
        ...{ attempt: attemptId(attempt), metric, at: 1_000 + value, value },
      });
      const many = Array.from({ length: 3 * usageSamplesMax }, (_, at) => sample(1, 'memory', at + 1));
      const others = [sample(1, 'gpu', 0.5), sample(2, 'cpu', 1e15)];
      const batches = [many.slice(0, 700), [...many.slice(700), ...others]].map((samples) => batchOf({ samples }));
      return committed(place, batches, async (reader) => {
        const kept = await reader.usageSamples(attemptId(1));
        assert.deepEqual(
          kept,
          [...many.filter(({ value }) => value % 4 === 0), many.at(-1), others[0]].filter(
            (one, at, all) => all.indexOf(one) === at,
          ),
        );
        assert.deepEqual(await reader.usageSamples(attemptId(2)), [others[1]]);
        assert.deepEqual(await reader.usageSamples(attemptId(3)), []);
      });
    },
  },
];

const needChange: NeedChange = {
  task: taskId(1),
  number: 1,
  need: { queue: 'default', cpus: 1, runtimeMs: 1_500 },
  resource: 'runtime',
  why: 'runtime 1.0 s → 1.5 s (×1.5)',
  attempt: attemptId(1),
};

/** At least one change of every type, in each of its shapes. */
const everyChange: readonly Change[] = [
  { type: 'workflow-registered', workflow: w1, rules },
  added(1, 1, [command, command, { kind: 'check', held: true, maxAttempts: 2, until: 5, priority: -7 }]),
  added(4, 4, []),
  added(4, 4, [{ kind: 'join' }]),
  { type: 'edges-added', edges: edges([1, 2], [3, 3], 'any') },
  { type: 'edge-removed', parent: taskId(1), child: taskId(3) },
  { type: 'tasks-activated', workflow: w1, fromIndex: 1 },
  { type: 'tasks-aborted', workflow: w1 },
  { type: 'workflow-moved', workflow: w1, to: 'queued' },
  { type: 'workflow-moved', workflow: w1, to: 'instantiating', run: 'cold' },
  { type: 'workflow-closed', workflow: w1 },
  { type: 'workflow-stopping', workflow: w1, stop: 'fail-fast' },
  { type: 'workflow-halt-mode', workflow: w1, mode: 'drain' },
  { type: 'task-changed', task: taskId(1), event: { type: 'held', held: false } },
  { type: 'task-changed', task: taskId(1), event: { type: 'prioritised', priority: -1_000 } },
  {
    type: 'task-changed',
    task: taskId(1),
    event: { type: 'moved', move: { to: 'queued', notBefore: 0 }, fresh: true },
  },
  {
    type: 'task-changed',
    task: taskId(2),
    event: { type: 'moved', move: { to: 'failed', reason: 'lost' }, charge: 'lost' },
  },
  {
    type: 'task-changed',
    task: taskId(1),
    event: { type: 'moved', move: { to: 'launched', attempt: attemptId(1), number: 1 } },
  },
  { type: 'attempt-recorded', attempt: attemptId(1), task: taskId(1), number: 1, worker: k1 },
  { type: 'attempt-started', attempt: attemptId(1), startedAt: 1_234 },
  { type: 'attempt-ended', attempt: attemptId(1), outcome: { kind: 'succeeded' } },
  {
    type: 'attempt-ended',
    attempt: attemptId(1),
    outcome: { kind: 'never-started', why: 'unable', message: 'a\0b\n' },
    startedAt: 5,
    usage: { wallMs: 1, cpuMs: 0.5, peakBytes: 3 },
    signalledFor: 'cancel',
  },
  { type: 'worker-joined', worker: k1, shard: 's', lock: 'l', instance: 'i', host: 'h', slots: 2 },
  {
    type: 'worker-joined',
    worker: k1,
    kind: 'http',
    owner: 't3',
    shard: 's',
    lock: '',
    instance: 'i',
    host: 'h',
    slots: 2,
    capacity: { queue: 'gpu', gpus: 1 },
  },
  { type: 'attempt-ended', attempt: attemptId(1), outcome: { kind: 'succeeded' }, startedAt: 5, endedAt: 9 },
  { type: 'worker-barred', worker: k1, bar: { kind: 'quarantined', why: 'it fails' } },
  { type: 'worker-barred', worker: k1 },
  { type: 'worker-patience', worker: k1, silenceMs: 1_000 },
  { type: 'worker-resized', worker: k1, slots: 3 },
  { type: 'worker-refitted', worker: k1, capacity: { queue: 'big', memoryBytes: 7, pools: { '': 1 }, endsAt: 9 } },
  { type: 'task-changed', task: taskId(1), event: { type: 'refunded', cause: 'attempts' } },
  { type: 'worker-gone', worker: k1, why: 'silent' },
  {
    type: 'task-changed',
    task: taskId(1),
    event: { type: 'moved', move: { to: 'adjusting', resource: 'runtime' }, charge: 'resources' },
  },
  { type: 'need-adjusted', ...needChange },
  { type: 'need-refused', ...needChange },
  { type: 'tasks-grouped', group: 'tag:a=b', tasks: [{ from: taskId(1), to: taskId(3) }] },
  { type: 'workflow-concurrency', workflow: w1, concurrency: { workflow: 0, templates: { t: 1 } } },
  { type: 'limit-set', name: 'licence', max: 1.5 },
  { type: 'limit-set', name: 'licence' },
];

const history: readonly ConformanceCase[] = [
  {
    name: 'history gives every type of change back as it was, with the time of its turn',
    run(place) {
      assert.deepEqual(new Set(everyChange.map(({ type }) => type)), new Set(changeTypes));
      const batches = [
        batchOf({ at: 5_000, changes: everyChange.slice(0, 9) }),
        batchOf({ at: 6_000, changes: everyChange.slice(9) }),
      ];
      return committed(place, batches, async (reader) => {
        const expected = everyChange.map((change, offset) => ({
          seq: offset + 1,
          at: offset < 9 ? 5_000 : 6_000,
          change,
        }));
        assert.deepEqual(await reader.history(0, 1_000), expected);
      });
    },
  },
  {
    name: 'history can be read from anywhere, as much as is wanted, and goes on after the store was opened again',
    async run(place) {
      const started = (id: number): Change => ({ type: 'attempt-started', attempt: attemptId(id), startedAt: id });
      const changes = Array.from({ length: 1_500 }, (_, offset) => started(offset + 1));
      const check = async (reader: Reader, written: number) => {
        for (const [after, limit] of [
          [0, 1],
          [0, 256],
          [255, 2],
          [256, 700],
          [999, 50],
          [1_400, 1_000],
          [1_500, 5],
        ] as const) {
          const expected = changes.slice(0, written).slice(after, after + limit);
          const entries = await reader.history(after, limit);
          assert.deepEqual(
            entries.map(({ change }) => change),
            expected,
          );
          assert.deepEqual(
            entries.map(({ seq }) => seq),
            expected.map((_, offset) => after + offset + 1),
          );
        }
      };
      const first = await place.open();
      await first.commit(batchOf({ changes: changes.slice(0, 1_000) }));
      await check(first, 1_000);
      await first.close();
      const second = await place.open();
      await second.commit(batchOf({ changes: changes.slice(1_000, 1_001) }));
      await second.commit(batchOf({ changes: changes.slice(1_001) }));
      await check(second, 1_500);
      await second.close();
    },
  },
];

const atomicity: readonly ConformanceCase[] = [
  {
    name: 'a batch that fails leaves nothing behind, and nothing is committed after it',
    async run(place) {
      const store = await place.open();
      const good = batchOf({ changes: [added(1, 1, [command])], definitions: [definition(1, { command: 'true' })] });
      await store.commit(good);
      const bad = batchOf({
        changes: [{ type: 'workflow-closed', workflow: w1 }],
        definitions: [definition(2, { command: 'true' }), definition(1, { command: 'again' })],
        rows: { tasks: [taskRow(1)], workflows: [workflowRow(1)] },
        specs: [{ workflow: w1, spec }],
      });
      await assert.rejects(store.commit(bad));
      await assert.rejects(store.commit(batchOf({})), /after a commit that failed/);
      await store.close();
      const again = await place.open();
      assert.deepEqual(await all(again.taskRows()), []);
      assert.deepEqual(await all(again.workflowRows()), []);
      assert.equal(await again.workflowSpec(w1), undefined);
      await assert.rejects(again.definitions([taskId(2)]));
      assert.deepEqual(await again.definitions([taskId(1)]), good.definitions);
      assert.equal((await again.history(0, 10)).length, 1);
      await again.commit(batchOf({ rows: { tasks: [taskRow(1)] } }));
      assert.deepEqual(await all(again.taskRows()), [taskRow(1)]);
      await again.close();
    },
  },
  {
    name: 'what the giver does to its objects later does not reach the store',
    run(place) {
      const task = { ...taskRow(1), used: { attempts: 1, resources: 0, lost: 0, 'never-started': 0 } };
      const seed: { kind: 'command'; maxAttempts: number } = { kind: 'command', maxAttempts: 2 };
      const taskSpec = { command: 'true' };
      const batch = batchOf({
        changes: [added(1, 1, [seed])],
        definitions: [definition(1, taskSpec)],
        rows: { tasks: [task] },
      });
      let isFirst = true;
      return committed(place, [batch], async (reader) => {
        if (isFirst) {
          task.used.attempts = 9;
          seed.maxAttempts = 9;
          taskSpec.command = 'false';
          isFirst = false;
        }
        assert.equal((await all(reader.taskRows()))[0]?.used.attempts, 1);
        assert.equal((await all(reader.seedRuns()))[0]?.seeds[0]?.maxAttempts, 2);
        assert.equal((await reader.definitions([taskId(1)]))[0]?.spec.command, 'true');
      });
    },
  },
];

export const conformanceCases: readonly ConformanceCase[] = [
  ...identity,
  ...rows,
  ...attempts,
  ...usage,
  ...history,
  ...atomicity,
];
