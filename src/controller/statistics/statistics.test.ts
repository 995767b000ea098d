import { describe, expect, it } from 'vitest';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Change, TaskSeed } from '../../core/change.ts';
import { Cluster } from '../../core/cluster.ts';
import type { TaskMove } from '../../core/task/view.ts';
import { attemptId, type TaskId, taskId, workerId, workflowId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { plainNeed } from '../../model/need.ts';
import type { Outcome } from '../../model/outcome.ts';
import { Statistics } from './statistics.ts';

const begin = 1_000_000;
const rules = { maxAttempts: 3, failFast: false, open: false };
const succeeded: Outcome = { kind: 'succeeded' };
const k1 = workerId(1);

/** A cluster whose changes are committed as they are made. */
class World {
  readonly cluster = new Cluster();
  readonly statistics = new Statistics(this.cluster, begin);
  #lastTask = 0;
  #lastAttempt = 0;

  constructor() {
    const facts = { shard: 's', lock: 'l', instance: 'i', host: 'n1', slots: 4 };
    this.commit(begin, { type: 'worker-joined', worker: k1, ...facts });
  }

  commit(at: number, ...changes: readonly Change[]): void {
    for (const change of changes) this.cluster.apply(change, at);
    this.statistics.follow({ at, changes, tagged: [] });
    for (const row of this.cluster.takeDirty().attempts) if (row.outcome !== undefined) this.statistics.onEnded(row);
  }

  /** Which runs from `at` on. */
  workflow(id: number, at: number, seeds: readonly TaskSeed[]): TaskId[] {
    const workflow = workflowId(id);
    const first = taskId(this.#lastTask + 1);
    this.#lastTask += seeds.length;
    this.commit(
      at,
      { type: 'workflow-registered', workflow, rules },
      { type: 'tasks-added', workflow, first, firstIndex: 1, seeds },
      { type: 'workflow-closed', workflow },
      { type: 'workflow-moved', workflow, to: 'running', run: 'fresh' },
      { type: 'tasks-activated', workflow, fromIndex: 1 },
    );
    return seeds.map((_, offset) => taskId(first + offset));
  }

  start(task: TaskId, at: number): AttemptRow['id'] {
    const attempt = attemptId(++this.#lastAttempt);
    const number = this.cluster.tasks.attemptNumber(task) + 1;
    const moved = (to: 'launched' | 'running'): Change => ({
      ...{ type: 'task-changed', task, event: { type: 'moved', move: { to, attempt, number } } },
    });
    this.commit(at, { type: 'attempt-recorded', attempt, task, number, worker: k1 }, moved('launched'));
    this.commit(at, { type: 'attempt-started', attempt, startedAt: at }, moved('running'));
    return attempt;
  }

  end(attempt: AttemptRow['id'], task: TaskId, at: number, outcome: Outcome = succeeded, wallMs = 10): void {
    const isDone = outcome.kind === 'succeeded';
    const usage = { wallMs, cpuMs: 5 };
    this.commit(
      at,
      { type: 'attempt-ended', attempt, outcome, endedAt: at, ...(outcome.kind === 'lost' ? {} : { usage }) },
      {
        type: 'task-changed',
        task,
        event: { type: 'moved', move: isDone ? { to: 'done' } : { to: 'triaging', cause: 'lost' } },
      },
    );
  }

  run(task: TaskId, at: number): void {
    this.end(this.start(task, at), task, at + 10);
  }

  cellsOf(workflow: number) {
    const cells = this.statistics.workflows.get(workflowId(workflow));
    if (cells === undefined) throw new Error('it has none');
    return cells;
  }
}

const command: TaskSeed = { kind: 'command' };
const counts = (outcomes: Uint32Array): number => outcomes.reduce((sum, count) => sum + count, 0);

describe('how long a task waits', () => {
  it('is from when its workflow began, unless it was queued later', () => {
    const world = new World();
    const [first, second] = world.workflow(1, begin + 100, [command, command]) as [TaskId, TaskId];
    world.run(first, begin + 150);
    world.commit(begin + 500, {
      ...{ type: 'task-changed', task: second, event: { type: 'moved', move: { to: 'queued', notBefore: 0 } } },
    });
    world.run(second, begin + 520);
    const { waiting, running, total } = world.cellsOf(1).sum();
    expect([waiting.min, waiting.max]).toEqual([20, 50]);
    expect([running.count, total.min]).toEqual([2, 30]);
  });

  it('is known of an attempt with whose end its task is queued again', () => {
    const world = new World();
    const [task] = world.workflow(1, begin + 100, [command]) as [TaskId];
    for (const [startAt, endAt] of [
      [begin + 150, begin + 1_000],
      [begin + 1_700, begin + 2_000],
    ] as const) {
      const attempt = world.start(task, startAt);
      const moved = (move: TaskMove): Change => ({ type: 'task-changed', task, event: { type: 'moved', move } });
      world.commit(
        endAt,
        {
          ...{ type: 'attempt-ended', attempt, outcome: { kind: 'exited', code: 1 }, endedAt: endAt },
          usage: { wallMs: 10, cpuMs: 5 },
        },
        moved({ to: 'triaging', cause: 'attempts' }),
        moved({ to: 'queued', notBefore: 0 }),
      );
    }
    const { waiting } = world.cellsOf(1).sum();
    expect([waiting.count, waiting.min, waiting.max]).toEqual([2, 50, 700]);
  });

  it('is known of an attempt that was lost, and whose end is told after its task was queued again', () => {
    const world = new World();
    const [task] = world.workflow(1, begin + 100, [command]) as [TaskId];
    const attempt = world.start(task, begin + 150);
    const queued = { type: 'moved', move: { to: 'queued', notBefore: begin + 5_000 }, charge: 'lost' } as const;
    world.commit(
      begin + 900,
      { type: 'attempt-ended', attempt, outcome: { kind: 'lost', what: 'worker' }, endedAt: begin + 900 },
      { type: 'task-changed', task, event: { type: 'moved', move: { to: 'triaging', cause: 'lost' } } },
      { type: 'task-changed', task, event: queued },
    );
    world.end(attempt, task, begin + 1_000);
    const { waiting } = world.cellsOf(1).sum();
    expect([waiting.count, waiting.min]).toEqual([1, 50]);
  });

  it('is known after a restart of a first attempt alone: nobody has written down when a task was queued again', () => {
    const world = new World();
    const [task, other] = world.workflow(1, begin + 100, [command, command]) as [TaskId, TaskId];
    const after = new Statistics(world.cluster, begin + 9_000);
    const row = (id: number, of: TaskId, previous: number): AttemptRow => ({
      ...{ id: attemptId(id), task: of, number: previous === 0 ? 1 : 2, previous, worker: k1 },
      ...{ recordedAt: begin + 2_000, startedAt: begin + 2_100, endedAt: begin + 2_200, outcome: succeeded },
      ...{ usage: { wallMs: 100, cpuMs: 5 }, signalledFor: undefined },
    });
    after.count(row(2, task, 1));
    after.count(row(3, other, 0));
    const { waiting, running } = after.workflows.get(workflowId(1))?.sum() ?? {};
    expect([waiting?.count, waiting?.min, running?.count]).toEqual([1, 2_000, 2]);
  });
});

describe('an attempt', () => {
  it('that was lost and turns out to have ended is counted once, as what it was', () => {
    const world = new World();
    const [task] = world.workflow(1, begin, [command]) as [TaskId];
    const attempt = world.start(task, begin + 1);
    world.end(attempt, task, begin + 2, { kind: 'lost', what: 'worker' });
    expect([...world.cellsOf(1).sum().outcomes]).toEqual([0, 0, 0, 0, 1, 0, 0]);
    world.end(attempt, task, begin + 3);
    const { outcomes, running } = world.cellsOf(1).sum();
    expect([...outcomes]).toEqual([1, 0, 0, 0, 0, 0, 0]);
    expect(running.count).toBe(1);
  });

  it('that was never started, or cancelled, says nothing of how long tasks run', () => {
    const world = new World();
    const [task] = world.workflow(1, begin, [command]) as [TaskId];
    world.end(world.start(task, begin), task, begin + 9, { kind: 'cancelled' });
    expect(world.cellsOf(1).sum().running.count).toBe(0);
  });
});

describe('what is kept is bounded', () => {
  it('by templates: those beyond the limit are other, and nothing is lost', () => {
    const world = new World();
    const most = statisticsLimits.templatesMax;
    const seeds = Array.from({ length: most + 20 }, (_, n) => ({
      ...command,
      need: { ...plainNeed, groups: [`template:t${n}`] },
    }));
    for (const task of world.workflow(1, begin, seeds)) world.run(task, begin + 1);
    const { templates } = world.cellsOf(1);
    expect(templates.size).toBe(most + 1);
    expect(counts(templates.get('other')?.outcomes ?? new Uint32Array())).toBe(20);
    expect(counts(world.cellsOf(1).sum().outcomes)).toBe(most + 20);
  });

  it('by workflows: one that has ended goes into the sum of the others, and is known to be gone', () => {
    const world = new World();
    const most = statisticsLimits.workflowsMax;
    for (let id = 1; id <= most + 3; id++) {
      const [task] = world.workflow(id, begin, [command]) as [TaskId];
      world.run(task, begin + 1);
      if (id === 2) world.commit(begin + 2, { type: 'workflow-moved', workflow: workflowId(id), to: 'done' });
    }
    const { statistics } = world;
    expect(statistics.workflows.size).toBe(most);
    expect(counts(statistics.forgotten.sum().outcomes)).toBe(3);
    expect([1, 2, 3, 4].map((id) => statistics.isForgotten(workflowId(id)))).toEqual([true, true, true, false]);
    // What they were of is still known, by template and by worker.
    const { templates, workers } = statistics.forgotten;
    expect([...templates].map(([name, { outcomes }]) => [name, counts(outcomes)])).toEqual([['', 3]]);
    expect([...workers].map(([worker, { outcomes }]) => [worker, counts(outcomes)])).toEqual([[k1, 3]]);
  });
});
