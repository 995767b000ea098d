import { describe, expect, it } from 'vitest';
import { check, command, edge, Herd, join } from '../../test/core/herd.ts';
import { workflowId } from '../model/ids.ts';
import { prefetchMs } from '../model/limits.ts';
import type { Outcome } from '../model/outcome.ts';
import { addContinuations, removeContinuations } from './task/dependencies.ts';
import { retryTask } from './task/retrying.ts';
import { cancelWorkflow, closeWorkflow, extendWorkflow, registerWorkflow } from './workflow/registration.ts';

const failed: Outcome = { kind: 'exited', code: 1 };
const lost: Outcome = { kind: 'lost', what: 'worker' };
const stopped: Outcome = { kind: 'cancelled', signal: 15 };

describe('dependencies', () => {
  it('A11, A12, A58: a good end releases continuations, which are queued when the last dependency is met', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 3), edge(2, 3)]);
    expect(herd.states(w)).toEqual(['queued', 'queued', 'waiting']);
    herd.launch();
    herd.end(w, 1);
    expect(herd.state(w, 3)).toBe('waiting');
    herd.end(w, 2);
    expect(herd.state(w, 3)).toBe('queued');
  });

  it('A57: a bad end for good cancels the continuations, and theirs', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 2), edge(2, 3)]);
    herd.launch();
    herd.end(w, 1, failed);
    expect(herd.states(w)).toEqual(['failed', 'cancelled', 'cancelled']);
    expect(herd.cluster.workflow(w).state).toBe('failed');
  });

  it('A15, A16, A49: a task without a command ends at once and releases its continuations', () => {
    const herd = new Herd();
    const w = herd.submit([join, command], [edge(1, 2)]);
    expect(herd.states(w)).toEqual(['done', 'queued']);
  });

  it('edges after any end, and after a bad one, are met by those', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command, command], [edge(1, 2, 'any'), edge(1, 3, 'failure'), edge(1, 4)]);
    herd.launch();
    herd.end(w, 1, failed);
    expect(herd.states(w)).toEqual(['failed', 'queued', 'queued', 'cancelled']);
  });

  it('an edge after a bad end is impossible after a good one', () => {
    const herd = new Herd();
    const w = herd.submit([command, command], [edge(1, 2, 'failure')]);
    herd.finish(w);
    expect(herd.states(w)).toEqual(['done', 'cancelled']);
  });

  it('a task for a failure that did not happen is not needed, nor is what waits for it: nothing is missing', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 2, 'failure'), edge(2, 3)]);
    herd.finish(w);
    const reasons = [2, 3].map((index) => herd.cluster.tasks.reason(herd.task(w, index)));
    expect(reasons).toEqual(['unneeded', 'unneeded']);
    expect(herd.cluster.workflow(w).state).toBe('done');
  });

  it('a task that waits for a failure, and for a success that did not come, is missing', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 3, 'failure'), edge(2, 3)]);
    herd.launch();
    herd.end(w, 2, failed);
    herd.finish(w);
    expect(herd.cluster.tasks.reason(herd.task(w, 3))).toBe('upstream');
  });

  it('A3, A17: continuations are added and removed while they wait; removing the last edge queues the task', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 2)]);
    const [one, two, three] = [herd.task(w, 1), herd.task(w, 2), herd.task(w, 3)];
    herd.turn((turn) => addContinuations(turn, three, [two], 'success'));
    herd.turn((turn) => removeContinuations(turn, one, [two]));
    expect(herd.state(w, 2)).toBe('waiting');
    herd.turn((turn) => removeContinuations(turn, three, [two]));
    expect(herd.state(w, 2)).toBe('queued');
  });

  it('A9: a task that no longer waits can not be acquired, and the request says so', () => {
    const herd = new Herd();
    const w = herd.submit([command, command]);
    const add = () => herd.turn((turn) => addContinuations(turn, herd.task(w, 1), [herd.task(w, 2)], 'success'));
    expect(add).toThrow(expect.objectContaining({ code: 'continuation-not-waiting' }));
  });

  it('a cycle is refused', () => {
    const herd = new Herd();
    const w = herd.submit([{ kind: 'command', held: true }, command], [edge(1, 2)]);
    const close = () => herd.turn((turn) => addContinuations(turn, herd.task(w, 2), [herd.task(w, 1)], 'any'));
    expect(close).toThrow(
      expect.objectContaining({ code: 'dependency-cycle', details: { cycle: ['w1.1', 'w1.2', 'w1.1'] } }),
    );
    const self = () => herd.turn((turn) => addContinuations(turn, herd.task(w, 1), [herd.task(w, 1)], 'any'));
    expect(self).toThrow(expect.objectContaining({ details: { cycle: ['w1.1', 'w1.1'] } }));
  });

  it('of several that are added or removed at once, none is when one can not be', () => {
    const herd = new Herd();
    const held = { kind: 'command', held: true } as const;
    const w = herd.submit([command, held, held, command]);
    const [one, two, three, four] = [herd.task(w, 1), herd.task(w, 2), herd.task(w, 3), herd.task(w, 4)];
    const add = () => herd.turn((turn) => addContinuations(turn, one, [two, three, four], 'any'));
    expect(add).toThrow(expect.objectContaining({ code: 'continuation-not-waiting', details: expect.anything() }));
    expect(herd.cluster.graph.has(one, two)).toBe(false);
    herd.turn((turn) => addContinuations(turn, one, [two, three, two], 'any'));
    expect(herd.cluster.tasks.pending(two)).toBe(1);
    const remove = () => herd.turn((turn) => removeContinuations(turn, one, [two, four]));
    expect(remove).toThrow(expect.objectContaining({ code: 'edge-unknown' }));
    expect(herd.cluster.graph.has(one, two)).toBe(true);
  });

  it('an edge from a parent that has ended is resolved at once, in workflows of others too', () => {
    const herd = new Herd();
    const done = herd.submit([command]);
    herd.finish(done);
    const w = herd.submit([{ kind: 'command', held: true }]);
    herd.turn((turn) => addContinuations(turn, herd.task(done, 1), [herd.task(w, 1)], 'success'));
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'release' }, 'definer'));
    expect(herd.state(w, 1)).toBe('queued');
  });

  it('A14: a task created held is queued by its release, when nothing else is pending', () => {
    const herd = new Herd();
    const w = herd.submit([command, { kind: 'command', held: true }], [edge(1, 2)]);
    herd.turn((turn) => turn.mustTask(herd.task(w, 2), { type: 'release' }, 'definer'));
    expect(herd.state(w, 2)).toBe('waiting');
    herd.finish(w);
    expect(herd.states(w)).toEqual(['done', 'done']);
  });

  it('a hold keeps a queued task from being launched until it is released', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'hold' }, 'definer'));
    herd.launch();
    expect(herd.state(w, 1)).toBe('queued');
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'release' }, 'definer'));
    herd.launch();
    expect(herd.state(w, 1)).toBe('launched');
  });
});

describe('submissions that come at the same time', () => {
  const rules = { maxAttempts: 1, failFast: false, open: false };

  it('keep their edges to themselves, though their tasks have no consecutive ids', () => {
    const herd = new Herd();
    const [a, b] = herd.turn((turn) => [registerWorkflow(turn, rules), registerWorkflow(turn, rules)] as const);
    const add = (w: typeof a, seeds: (typeof command)[], edges: Parameters<Herd['submit']>[1] = []) =>
      herd.turn((turn) => extendWorkflow(turn, w, { seeds, edges }));
    add(a, [command]);
    add(b, [command]);
    add(a, [command, join], [{ parents: [1, 2], children: [3, 3], after: 'any' }]);
    const parents = [...herd.cluster.graph.parents(herd.task(a, 3))].map(({ parent }) => parent);
    expect(parents.sort()).toEqual([herd.task(a, 1), herd.task(a, 2)]);
    for (const w of [a, b]) herd.turn((turn) => closeWorkflow(turn, w));
    herd.finish(a);
    expect(herd.states(a)).toEqual(['done', 'done', 'done']);
    expect(herd.states(b)).toEqual(['launched']);
  });

  it('an aborted one cancels what waited for it elsewhere', () => {
    const herd = new Herd();
    const w = herd.submit([{ kind: 'command', held: true }]);
    const aborted = herd.turn((turn) => {
      const id = registerWorkflow(turn, rules);
      extendWorkflow(turn, id, { seeds: [command], edges: [] });
      return id;
    });
    herd.turn((turn) => addContinuations(turn, herd.task(aborted, 1), [herd.task(w, 1)], 'success'));
    herd.turn((turn) => cancelWorkflow(turn, aborted));
    expect(herd.states(w)).toEqual(['cancelled']);
  });
});

describe('barriers', () => {
  const barrier = [
    { parents: [1, 2], children: [3, 3], after: 'any' },
    { parents: [3, 3], children: [4, 4], after: 'success' },
  ] as const;

  it('C7, C9: nothing after a barrier is available before all before it have ended, well or badly', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, join, command], barrier);
    herd.launch();
    herd.end(w, 1, failed);
    expect(herd.state(w, 4)).toBe('waiting');
    herd.end(w, 2);
    expect(herd.states(w)).toEqual(['failed', 'done', 'done', 'queued']);
  });

  it('C13: one end satisfies several barriers in a row', () => {
    const herd = new Herd();
    const w = herd.submit(
      [command, join, join, join, command],
      [edge(1, 2, 'any'), edge(2, 3), edge(3, 4), edge(4, 5)],
    );
    herd.launch();
    herd.end(w, 1);
    expect(herd.states(w)).toEqual(['done', 'done', 'done', 'done', 'queued']);
  });

  it('a checking barrier ends the run when a task before it failed', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, check, command], barrier);
    herd.finish(w, (index) => (index === 1 ? failed : { kind: 'succeeded' }));
    expect(herd.states(w)).toEqual(['failed', 'done', 'failed', 'cancelled']);
    expect(herd.cluster.workflow(w).state).toBe('failed');
  });

  it('resuming past a checking barrier repeats what failed, then the check, then what comes after it', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, check, command], barrier);
    herd.finish(w, (index) => (index === 1 ? failed : { kind: 'succeeded' }));
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'resume', how: 'hot' }, 'definer'));
    expect(herd.states(w)).toEqual(['queued', 'done', 'waiting', 'waiting']);
    herd.finish(w);
    expect(herd.cluster.workflow(w).state).toBe('done');
  });
});

describe('attempts and budgets', () => {
  it('A56, D37: a bad end with attempts left is tried again, after a wait', () => {
    const herd = new Herd();
    const w = herd.submit([command], [], { maxAttempts: 2 });
    herd.launch();
    herd.end(w, 1, failed);
    expect(herd.state(w, 1)).toBe('queued');
    herd.launch();
    expect(herd.state(w, 1)).toBe('queued');
    herd.pass(2_000);
    herd.launch();
    expect(herd.state(w, 1)).toBe('launched');
    expect(herd.cluster.tasks.attemptNumber(herd.task(w, 1))).toBe(2);
  });

  it('A57, B11, D35: with no attempt left it has failed', () => {
    const herd = new Herd();
    const w = herd.submit([command], [], { maxAttempts: 2 });
    herd.launch();
    herd.end(w, 1, failed);
    herd.pass(2_000);
    herd.launch();
    herd.end(w, 1, failed);
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({ state: 'failed', reason: 'attempts' });
  });

  it('a lost worker does not eat the attempts of the user, and has a budget of its own', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    for (let losses = 0; losses < 5; losses++) {
      herd.launch();
      herd.loseWorker();
      expect(herd.state(w, 1)).toBe('queued');
      herd.pass(100_000);
    }
    herd.launch();
    herd.loseWorker();
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({ state: 'failed', reason: 'lost' });
  });

  it('E48: the end of an attempt that was given up counts as long as there is no newer one', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.end(w, 1, lost);
    expect(herd.state(w, 1)).toBe('queued');
    expect(herd.end(w, 1)).toBe(true);
    expect(herd.state(w, 1)).toBe('done');
  });

  it('a second end of an attempt changes nothing', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.end(w, 1);
    expect(herd.end(w, 1, failed)).toBe(false);
    expect(herd.state(w, 1)).toBe('done');
  });

  it('what can not be started at all fails at once, and says why', () => {
    const herd = new Herd();
    const w = herd.submit([command], [], { maxAttempts: 5 });
    herd.launch();
    herd.end(w, 1, { kind: 'never-started', why: 'impossible', message: 'no such directory' });
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({ state: 'failed', reason: 'not-startable' });
  });

  it('what was taken back before its start is queued again and charged to nobody', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.end(w, 1, { kind: 'never-started', why: 'retracted', message: '' });
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({
      state: 'queued',
      notBefore: 0,
      used: { attempts: 0, lost: 0, resources: 0, 'never-started': 0 },
    });
  });

  it('D10, D36: a deadline that passes before the start fails the task, and one attempt is not repeated past it', () => {
    const herd = new Herd();
    const until = herd.now + 500;
    const w = herd.submit([{ kind: 'command', until }, command], [], { maxAttempts: 3 });
    const late = herd.submit([{ kind: 'command', until }], [], { maxAttempts: 3 });
    herd.turn((turn) => turn.mustTask(herd.task(late, 1), { type: 'hold' }, 'definer'));
    herd.launch();
    herd.pass(501);
    expect(herd.cluster.taskView(herd.task(late, 1))).toMatchObject({ state: 'failed', reason: 'deadline' });
    herd.end(w, 1, failed);
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({ state: 'failed', reason: 'deadline' });
  });

  it('D36: a task whose deadline has passed when it is submitted fails once, and what waits for it is cancelled once', () => {
    const herd = new Herd();
    const { changes } = herd.turn((turn) => {
      const w = registerWorkflow(turn, { maxAttempts: 1, failFast: false, open: false });
      extendWorkflow(turn, w, { seeds: [{ kind: 'command', until: herd.now - 1 }, command], edges: [edge(1, 2)] });
      closeWorkflow(turn, w);
      return turn;
    });
    const moves = changes.flatMap((change) =>
      change.type === 'task-changed' && change.event.type === 'moved' ? [change.event.move.to] : [],
    );
    expect(moves).toEqual(['failed', 'cancelled']);
  });

  it('D36: a task that is tried again when its deadline has passed fails by the clock, not when there is room for it', () => {
    const herd = new Herd(1);
    herd.submit([command]);
    herd.launch();
    const w = herd.submit([{ kind: 'command', until: herd.now + 500 }]);
    herd.pass(501);
    expect(herd.states(w)).toEqual(['failed']);
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'retry' }, 'definer'));
    herd.pass(1);
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({ state: 'failed', reason: 'deadline' });
  });
});

describe('cancelling', () => {
  it('A26, A24: a task that does not run is cancelled at once, with its continuations', () => {
    const herd = new Herd();
    const w = herd.submit([command, command], [edge(1, 2)]);
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer'));
    expect(herd.states(w)).toEqual(['cancelled', 'cancelled']);
    expect(herd.cluster.workflow(w).state).toBe('cancelled');
  });

  it('A27, A28, A31: a running one is being cancelled: its continuations are cancelled without waiting for the worker', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 2), edge(1, 3, 'any')]);
    herd.launch();
    herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer'));
    expect(herd.states(w)).toEqual(['cancelling', 'cancelled', 'waiting']);
    herd.end(w, 1, stopped);
    expect(herd.states(w)).toEqual(['cancelled', 'cancelled', 'queued']);
  });

  it('A29, A47, A60, A61: the last word of the worker decides how it ended', () => {
    for (const [outcome, state] of [
      [stopped, 'cancelled'],
      [{ kind: 'succeeded' }, 'done'],
      [failed, 'failed'],
      [lost, 'cancelled'],
    ] as const) {
      const herd = new Herd();
      const w = herd.submit([command]);
      herd.launch();
      herd.turn((turn) => turn.mustTask(herd.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer'));
      herd.end(w, 1, outcome);
      expect(herd.state(w, 1)).toBe(state);
    }
  });

  it('a whole workflow is cancelled, running tasks included', () => {
    const herd = new Herd(1);
    const w = herd.submit([command, command, command]);
    herd.launch();
    herd.turn((turn) => cancelWorkflow(turn, w));
    expect(herd.states(w)).toEqual(['cancelling', 'cancelled', 'cancelled']);
    herd.end(w, 1, stopped);
    expect(herd.cluster.workflow(w).state).toBe('cancelled');
  });

  it('a workflow that is cancelled in the turn that closes it never runs', () => {
    const herd = new Herd();
    const w = herd.turn((turn) => {
      const id = registerWorkflow(turn, { maxAttempts: 1, failFast: false, open: false });
      extendWorkflow(turn, id, { seeds: [command, command], edges: [edge(1, 2)] });
      closeWorkflow(turn, id);
      cancelWorkflow(turn, id);
      return id;
    });
    expect(herd.states(w)).toEqual(['cancelled', 'cancelled']);
    expect(herd.cluster.workflow(w).state).toBe('cancelled');
  });

  it('under fail-fast the first failure cancels the rest, and nothing is sent ahead', () => {
    const herd = new Herd(2);
    const w = herd.submit([command, command, command], [], { failFast: true });
    const worker = [...herd.cluster.workers.values()][0];
    if (worker !== undefined) worker.averageMs = 1;
    herd.launch();
    expect(herd.states(w)).toEqual(['launched', 'launched', 'queued']);
    herd.end(w, 1, failed);
    expect(herd.states(w)).toEqual(['failed', 'cancelling', 'cancelled']);
    expect(herd.cluster.taskView(herd.task(w, 3))).toMatchObject({ reason: 'fail-fast' });
  });
});

describe('a workflow that stops', () => {
  it('cancels also what is retried behind its sweep', () => {
    const herd = new Herd();
    const w = herd.submit([command, command], [], { failFast: true });
    herd.launch();
    herd.end(w, 1, failed);
    expect(herd.states(w)).toEqual(['failed', 'cancelling']);
    herd.turn((turn) => retryTask(turn, herd.task(w, 1)));
    expect(herd.states(w)).toEqual(['cancelled', 'cancelling']);
  });

  it('is closed with it, so that an open one ends, too', () => {
    const herd = new Herd();
    const w = herd.submit([command], [], { open: true });
    herd.turn((turn) => cancelWorkflow(turn, w));
    expect(herd.cluster.workflow(w).state).toBe('cancelled');
  });
});

describe('runs', () => {
  it('B24: a halted run launches nothing, keeps what is queued, and a resume goes on with it', () => {
    const herd = new Herd(1);
    const w = herd.submit([command, command]);
    herd.launch();
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
    herd.launch();
    expect(herd.states(w)).toEqual(['launched', 'queued']);
    herd.end(w, 1);
    expect(herd.cluster.workflow(w).state).toBe('halted');
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'resume', how: 'cold' }, 'definer'));
    herd.finish(w);
    expect(herd.cluster.workflow(w)).toMatchObject({ state: 'done', run: 2 });
  });

  it('a halt that kills puts what it killed back into the queue, uncharged', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'kill' }, 'definer'));
    herd.end(w, 1, stopped);
    expect(herd.cluster.taskView(herd.task(w, 1))).toMatchObject({ state: 'queued', used: { attempts: 0 } });
    expect(herd.cluster.workflow(w).state).toBe('halted');
  });

  it('a drain that ends with everything done is done, not halted', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
    herd.end(w, 1);
    expect(herd.cluster.workflow(w).state).toBe('done');
  });

  it('attempts that end are those of the run that is live then, and count once though they were lost before', () => {
    const herd = new Herd();
    const w = herd.submit([command, command], [], { maxAttempts: 1 });
    const ended = (): number => herd.cluster.workflow(w).attemptsEnded - herd.cluster.workflow(w).attemptsBefore;
    herd.launch();
    herd.end(w, 1, failed);
    herd.loseWorker();
    expect([ended(), herd.end(w, 2), ended()]).toEqual([2, true, 2]);
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'resume', how: 'cold' }, 'definer'));
    herd.finish(w);
    expect([ended(), herd.cluster.workflow(w).attemptsEnded]).toEqual([1, 3]);
  });

  it('a hot resume takes live attempts over', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    herd.launch();
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'resume', how: 'hot' }, 'definer'));
    expect(herd.cluster.workflow(w)).toMatchObject({ state: 'running', run: 2 });
    herd.end(w, 1);
    expect(herd.cluster.workflow(w).state).toBe('done');
  });

  it('a resume repeats what failed and what was cancelled for it, not what is done, nor what the user cancelled', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command, command], [edge(2, 3)]);
    herd.turn((turn) => turn.mustTask(herd.task(w, 4), { type: 'cancel', reason: 'user' }, 'definer'));
    herd.finish(w, (index) => (index === 2 ? failed : { kind: 'succeeded' }));
    expect(herd.states(w)).toEqual(['done', 'failed', 'cancelled', 'cancelled']);
    herd.turn((turn) => turn.mustWorkflow(w, { type: 'resume', how: 'cold' }, 'definer'));
    expect(herd.states(w)).toEqual(['done', 'queued', 'waiting', 'cancelled']);
  });

  it('one task of an ended workflow is tried again in a run of its own, with what was cancelled for it and no other', () => {
    const herd = new Herd();
    const w = herd.submit([command, command, command], [edge(1, 2)]);
    herd.finish(w, () => failed);
    expect(herd.states(w)).toEqual(['failed', 'cancelled', 'failed']);
    herd.turn((turn) => retryTask(turn, herd.task(w, 1)));
    expect(herd.states(w)).toEqual(['queued', 'waiting', 'failed']);
    herd.finish(w);
    expect(herd.states(w)).toEqual(['done', 'done', 'failed']);
    expect(herd.cluster.workflow(w)).toMatchObject({ state: 'failed', run: 2 });
  });

  it('B12: a definer that falls silent while registering leaves an aborted workflow', () => {
    const herd = new Herd();
    const w = herd.turn((turn) => {
      const rules = { maxAttempts: 1, failFast: false, open: false };
      const workflow = registerWorkflow(turn, rules);
      extendWorkflow(turn, workflow, { seeds: [command, command], edges: [] });
      return workflow;
    });
    expect(herd.states(w)).toEqual(['registering', 'registering']);
    herd.launch();
    herd.pass(61_000);
    expect(herd.cluster.workflow(w).state).toBe('aborted');
    expect(herd.states(w)).toEqual(['aborted', 'aborted']);
    const close = () => herd.turn((turn) => closeWorkflow(turn, w));
    expect(close).toThrow(expect.objectContaining({ code: 'transition-not-allowed' }));
  });

  it('an open workflow runs tasks as they come and ends when it is closed', () => {
    const herd = new Herd();
    const w = herd.submit([command], [], { open: true });
    herd.finish(w);
    expect(herd.cluster.workflow(w).state).toBe('running');
    herd.turn((turn) => extendWorkflow(turn, w, { seeds: [command], edges: [edge(1, 2)] }));
    herd.finish(w);
    herd.turn((turn) => closeWorkflow(turn, w));
    expect(herd.cluster.workflow(w).state).toBe('done');
  });

  it('an empty workflow is done at once', () => {
    const herd = new Herd();
    expect(herd.cluster.workflow(herd.submit([])).state).toBe('done');
  });

  it('A43: an illegal change is refused with a code, the present state and what is allowed', () => {
    const herd = new Herd();
    const w = herd.submit([command]);
    const resume = () => herd.turn((turn) => turn.mustWorkflow(w, { type: 'resume', how: 'hot' }, 'definer'));
    expect(resume).toThrow(
      expect.objectContaining({
        code: 'run-is-live',
        details: { state: 'running', allowed: expect.arrayContaining(['halt']) },
      }),
    );
    expect(() => herd.cluster.workflow(workflowId(9))).toThrow(expect.objectContaining({ code: 'workflow-unknown' }));
  });
});

describe('scheduling', () => {
  it('B13, C14: fills slots and no more as long as nothing is known of how long tasks take', () => {
    const herd = new Herd(3);
    const w = herd.submit(Array.from({ length: 5 }, () => command));
    herd.launch();
    expect(herd.states(w)).toEqual(['launched', 'launched', 'launched', 'queued', 'queued']);
  });

  it('sends ahead what takes `prefetchMs`, once it is known how much that is', () => {
    const herd = new Herd(2);
    const worker = [...herd.cluster.workers.values()][0];
    if (worker !== undefined) worker.averageMs = prefetchMs / 2;
    const w = herd.submit(Array.from({ length: 20 }, () => command));
    herd.launch();
    expect(herd.cluster.workflow(w).count('launched')).toBe(6);
  });

  it('workflows take turns', () => {
    const herd = new Herd(4);
    const a = herd.submit(Array.from({ length: 10 }, () => command));
    const b = herd.submit(Array.from({ length: 10 }, () => command));
    herd.launch();
    expect([a, b].map((w) => herd.cluster.workflow(w).count('launched'))).toEqual([2, 2]);
  });
});
