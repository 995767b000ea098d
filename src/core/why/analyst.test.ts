/** Why tasks wait. */
import { describe, expect, it } from 'vitest';
import { check, command, edge, join } from '../../../test/core/herd.ts';
import { reasonCases } from '../../../test/core/reasons.ts';
import { failed, held, needing, reservation, rules, times, Yard } from '../../../test/core/yard.ts';
import { workerId } from '../../model/ids.ts';
import { workerAttemptsMax } from '../../model/limits.ts';
import { reasonKinds } from '../../model/reasons.ts';
import { claimTask } from '../scheduler/claim.ts';
import { launchTasks } from '../scheduler/launch.ts';
import { Turn } from '../turn.ts';
import { closeWorkflow, extendWorkflow, registerWorkflow } from '../workflow/registration.ts';
import { whyWorkflow } from './workflow.ts';

describe('each reason', () => {
  it.each(reasonKinds.map((kind) => [kind, reasonCases[kind].it] as const))('%s is told of %s', (kind) => {
    const { make, facts } = reasonCases[kind];
    expect(make().reasons.find((reason) => reason.kind === kind)).toMatchObject({ kind, ...facts });
  });
});

describe('reasons', () => {
  it('that hold together are all told, what has to go first before the rest', () => {
    const yard = new Yard(2);
    yard.limit('matlab', 0);
    const seed = needing({ cpus: 4, limits: { matlab: 1 }, groups: ['template:fit'] }, { until: 9_000 });
    const concurrency = { workflow: 0, templates: { fit: 0 } };
    const w = yard.submit([seed], [], { concurrency });
    yard.turn((turn) => turn.mustTask(yard.task(w, 1), { type: 'hold' }, 'definer'));
    yard.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
    yard.wait = { until: undefined, workers: [workerId(1)] };
    expect(yard.kinds(w)).toEqual([
      ...['workflow-halted', 'held', 'initial-wait', 'workflow-limit', 'group-limit', 'limit', 'too-large'],
      'latest-start',
    ]);
  });

  it('of a task that waits for a free slot say what goes before it last', () => {
    const yard = new Yard(1);
    const w = yard.submit([command, ...times(2, command), { kind: 'command', priority: 3 }]);
    yard.launch();
    expect(yard.kinds(w, 3)).toEqual(['slots-busy', 'behind']);
    expect(yard.kinds(w, 1)).toEqual(['slots-busy']);
    yard.submit([{ kind: 'command', priority: 9 }]);
    expect(yard.kinds(w, 3)).toEqual(['slots-busy', 'higher-priority', 'behind']);
  });

  it('of a task on a worker that is full of tiny ones say so', () => {
    const yard = new Yard(4_096);
    const w = yard.submit(times(workerAttemptsMax + 1, needing({ cpus: 0.001 })));
    for (let turn = 0; turn < 3; turn++) yard.launch();
    expect(yard.why(w, workerAttemptsMax + 1).reasons[0]).toMatchObject({
      kind: 'no-room',
      short: [{ of: 'attempts', asked: 1, free: 0 }],
    });
  });

  it('of a task that is held after its worker was lost say so', () => {
    const yard = new Yard();
    const w = yard.submit([command], [], { onLost: 'hold' });
    yard.launch();
    yard.end(w, 1, { kind: 'lost', what: 'worker' });
    expect(yard.why(w).reasons[0]).toEqual({ kind: 'held', isAfterLoss: true });
  });

  it('of a task that runs in a workflow which is being halted tell that, too', () => {
    const yard = new Yard();
    const w = yard.submit([command]);
    yard.launch();
    yard.start(w, 1);
    yard.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'kill' }, 'definer'));
    expect(yard.why(w).reasons).toMatchObject([
      { kind: 'running' },
      { kind: 'workflow-halted', mode: 'kill', live: 1 },
    ]);
  });

  it('of joins and checks are about the controller alone, whatever there is of workers', () => {
    const yard = new Yard();
    yard.loseAll();
    const w = yard.submit([held, join, check], [edge(1, 2), edge(2, 3)]);
    expect([yard.kinds(w, 2), yard.kinds(w, 3)]).toEqual([['dependencies'], ['dependencies']]);
    yard.unsettled((turn) => {
      turn.task(yard.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer');
    });
    expect(yard.kinds(w, 2)).toEqual(['settling', 'dependencies']);
  });

  it('of a claimed task are those of any that runs, and that its worker is late when it is', () => {
    const yard = new Yard();
    const http = yard.addWorker(1, 'http');
    const w = yard.submit([command]);
    yard.turn((turn) => claimTask(turn, yard.worker(http), yard.task(w, 1)));
    expect(yard.why(w).reasons).toMatchObject([{ kind: 'running', worker: http }]);
    yard.pass(3_001);
    expect(yard.why(w).reasons[1]).toMatchObject({ kind: 'worker-silent', worker: http, why: 'no heartbeat' });
  });

  it('of tasks that were cancelled name whose end it was for', () => {
    const yard = new Yard();
    const w = yard.submit(times(3, command), [edge(1, 2, 'failure'), edge(2, 3)]);
    yard.finish(w);
    expect(yard.why(w, 3)).toMatchObject({
      reasons: [{ kind: 'cancelled', reason: 'unneeded', by: { first: [{ task: 2, state: 'cancelled' }] } }],
      root: { task: 1, state: 'done', steps: 2 },
    });
  });

  it('change nothing', () => {
    const { yard, small, large } = reservation();
    const before = JSON.stringify(yard.cluster.lanes.launches);
    for (const index of [1, 2, 3, 4]) yard.why(small, index);
    yard.why(large);
    const turn = new Turn(yard.cluster, yard.now);
    launchTasks(turn, 100);
    expect([turn.changes, JSON.stringify(yard.cluster.lanes.launches)]).toEqual([[], before]);
  });
});

describe('the root of a chain', () => {
  it('is the task at its end, with its own reasons', () => {
    const yard = new Yard();
    const w = yard.submit(
      [held, ...times(4, command)],
      [1, 2, 3, 4].map((at) => edge(at, at + 1)),
    );
    expect(yard.why(w, 5).root).toMatchObject({ task: 1, state: 'waiting', steps: 4, reasons: [{ kind: 'held' }] });
    expect(yard.why(w, 1).root).toBeUndefined();
  });

  it('is of several the one for which somebody has to do something', () => {
    const yard = new Yard();
    const w = yard.submit(
      [command, held, needing({ queue: 'big' }), command, command],
      [edge(1, 4), edge(4, 5), edge(2, 4), edge(1, 5)],
    );
    yard.launch();
    expect(yard.why(w, 5).root).toMatchObject({ task: 2, steps: 2 });
  });

  it('is behind a check what failed before it', () => {
    const yard = new Yard();
    const w = yard.submit([command, command, check, command], [edge(1, 3, 'any'), edge(2, 3, 'any'), edge(3, 4)]);
    yard.launch();
    yard.end(w, 1);
    yard.end(w, 2, failed);
    expect(yard.why(w, 3)).toMatchObject({
      reasons: [{ kind: 'failed', reason: 'check' }],
      root: { task: yard.task(w, 2), steps: 1, reasons: [{ kind: 'failed', reason: 'attempts' }] },
    });
    expect(yard.why(w, 4).root).toMatchObject({ task: yard.task(w, 2), steps: 2 });
  });

  it('is found across workflows', () => {
    const yard = new Yard();
    const one = yard.submit([held]);
    const two = yard.turn((turn) => {
      const workflow = registerWorkflow(turn, rules);
      const outside = [{ parent: yard.task(one, 1), children: [1, 1] as const, after: 'any' as const }];
      extendWorkflow(turn, workflow, { seeds: [command], edges: [], outside });
      closeWorkflow(turn, workflow);
      return workflow;
    });
    expect(yard.why(two).root).toMatchObject({ task: yard.task(one, 1), steps: 1 });
  });

  it('of a chain that is longer than may be looked at is as far as one came, and says so', () => {
    const yard = new Yard();
    const count = 30_000;
    const edges = times(count - 1, 0).map((_, at) => edge(at + 1, at + 2));
    const w = yard.submit([held, ...times(count - 1, command)], edges);
    const { reasons, root } = yard.why(w, count);
    expect(reasons[0]).toMatchObject({ kind: 'dependencies', on: { count: 1, first: [{ task: count - 1 }] } });
    expect(root).toMatchObject({ isCut: true, steps: 10_000 });
  });

  it('of a task that waits for a great many is found where they can be looked through, and their number is exact', () => {
    const yard = new Yard();
    const many = { parents: [1, 50_000], children: [50_001, 50_001], after: 'any' } as const;
    const w = yard.submit(times(50_001, command), [many]);
    const { reasons } = yard.why(w, 50_001);
    expect(reasons[0]).toMatchObject({ kind: 'dependencies', on: { count: 50_000, isCut: false } });
  });
});

describe('why a workflow has not ended', () => {
  it('is told by groups of tasks that have not, the largest first', () => {
    const yard = new Yard(2);
    const seeds = [...times(2, held), ...times(6, command), ...times(3, command), needing({ queue: 'big' })];
    const edges = [9, 10, 11].map((at) => edge(1, at));
    const w = yard.submit(seeds, edges);
    yard.launch();
    yard.end(w, 3);
    yard.launch();
    const why = whyWorkflow(yard.cluster, w, yard.outlook);
    const groups = why.groups.map(({ count, example }) => [count, example.reasons[0]?.kind]);
    expect(groups).toEqual([
      ...[
        [3, 'slots-busy'],
        [3, 'dependencies'],
        [2, 'held'],
        [2, 'sent'],
      ],
      [1, 'no-queue'],
    ]);
    expect(why).toMatchObject({ state: 'running', unended: 11, sampled: 11, reasons: [], more: undefined });
    expect(why.groups[1]?.example.root).toMatchObject({ task: 1, reasons: [{ kind: 'held' }] });
  });

  it('is told of a sample at even distances, which says of how many it is', () => {
    const yard = new Yard(1);
    const count = 50_000;
    const w = yard.submit(times(count, 0).map((_, at) => (at % 2 === 0 ? command : held)));
    const why = whyWorkflow(yard.cluster, w, yard.outlook);
    expect([why.unended, why.sampled]).toEqual([count, 1_000]);
    expect(why.groups.reduce((sum, group) => sum + group.count, 0)).toBe(1_000);
  });

  it('finds the few that are left of many', () => {
    const yard = new Yard(100);
    const w = yard.submit([...times(9_000, join), held, ...times(9_000, join), held]);
    const why = whyWorkflow(yard.cluster, w, yard.outlook);
    expect(why).toMatchObject({ unended: 2, sampled: 2, groups: [{ count: 2 }] });
  });

  it('is told by queue where there is no worker, since each takes another', () => {
    const yard = new Yard();
    yard.loseAll();
    const w = yard.submit([command, needing({ queue: 'big' }), command]);
    const { groups } = whyWorkflow(yard.cluster, w, yard.outlook);
    expect(groups.map(({ count, example }) => [count, example.task])).toEqual([
      [2, yard.task(w, 1)],
      [1, yard.task(w, 2)],
    ]);
  });

  it('is told once as long as it is being submitted, whatever its tasks depend on', () => {
    const yard = new Yard();
    const w = yard.turn((turn) => {
      const workflow = registerWorkflow(turn, rules);
      extendWorkflow(turn, workflow, { seeds: times(3, command), edges: [edge(1, 2), edge(1, 3)] });
      return workflow;
    });
    const { groups, reasons } = whyWorkflow(yard.cluster, w, yard.outlook);
    expect(reasons).toMatchObject([{ kind: 'registering' }]);
    expect(groups).toMatchObject([{ count: 3, example: { task: yard.task(w, 1) } }]);
  });

  it('is that it is halted, where it is', () => {
    const yard = new Yard();
    const w = yard.submit([command]);
    yard.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
    expect(whyWorkflow(yard.cluster, w, yard.outlook).reasons).toMatchObject([{ kind: 'workflow-halted' }]);
  });
});
