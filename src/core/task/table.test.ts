import { describe, expect, it } from 'vitest';
import { attemptId, taskId, workflowId } from '../../model/ids.ts';
import { exhaustibles } from '../../model/need.ts';
import type { Outcome } from '../../model/outcome.ts';
import {
  causes,
  type LossPolicy,
  outcomeKinds,
  type Role,
  roles,
  type TaskState,
  taskStates,
} from '../../model/states.ts';
import { decideBy } from '../machine.ts';
import { taskTable } from './table.ts';
import type { TaskCommand, TaskView } from './view.ts';

const facts = {
  id: taskId(1),
  workflow: workflowId(1),
  index: 1,
  kind: 'command' as const,
  held: false,
  priority: 0,
  pending: 0,
  used: { attempts: 0, resources: 0, lost: 0, 'never-started': 0 },
  maxAttempts: 3,
  maxResourceRetries: 5,
  adjusts: exhaustibles,
  onLost: 'requeue' as LossPolicy,
  until: Number.POSITIVE_INFINITY,
  attemptNumber: 2,
  lastAttempt: attemptId(7),
};

/** Every shape that a task can have in a state, as far as the table looks at it. */
function viewsIn(state: TaskState): TaskView[] {
  const variants = [
    facts,
    { ...facts, held: true },
    { ...facts, pending: 2 },
    { ...facts, kind: 'join' as const },
    { ...facts, kind: 'check' as const },
    { ...facts, until: 5 },
    { ...facts, onLost: 'hold' as const },
    { ...facts, onLost: 'fail' as const },
    { ...facts, used: { attempts: 2, resources: 5, lost: 5, 'never-started': 10 } },
  ];
  return variants.flatMap((variant): TaskView[] => {
    switch (state) {
      case 'queued':
        return [0, 1_000_000].map((notBefore) => ({ ...variant, state, notBefore }));
      case 'triaging':
        return causes.map((cause) => ({ ...variant, state, cause }));
      case 'adjusting':
        return exhaustibles.map((resource) => ({ ...variant, state, resource }));
      case 'cancelling':
        return [{ ...variant, state, reason: 'user' }];
      case 'cancelled':
        return [
          { ...variant, state, reason: 'user' },
          { ...variant, state, reason: 'upstream' },
        ];
      case 'failed':
        return [{ ...variant, state, reason: 'attempts' }];
      default:
        return [{ ...variant, state }];
    }
  });
}

const outcomes: Outcome[] = [
  { kind: 'succeeded' },
  { kind: 'exited', code: 1 },
  { kind: 'signalled', signal: 11 },
  { kind: 'resource', resource: 'memory' },
  { kind: 'resource', resource: 'runtime' },
  { kind: 'lost', what: 'worker' },
  { kind: 'lost', what: 'cylinder' },
  { kind: 'never-started', why: 'retracted', message: '' },
  { kind: 'never-started', why: 'refused', message: '' },
  { kind: 'never-started', why: 'unable', message: '' },
  { kind: 'never-started', why: 'impossible', message: '' },
  { kind: 'cancelled' },
  { kind: 'cancelled', signal: 15 },
];

const ends = outcomes.flatMap((outcome): TaskCommand[] => [
  { type: 'end', number: 2, outcome },
  { type: 'end', number: 1, outcome },
]);

const launch = { attempt: attemptId(8), now: 10 };
const commands: TaskCommand[] = [
  ...ends,
  { type: 'activate' },
  { type: 'abort' },
  { type: 'acquire' },
  { type: 'satisfy' },
  { type: 'hold' },
  { type: 'release' },
  { type: 'prioritise', priority: 0 },
  { type: 'prioritise', priority: 7 },
  { type: 'launch', ...launch, number: 3 },
  { type: 'launch', ...launch, number: 2 },
  { type: 'claim', ...launch, number: 3 },
  { type: 'start', number: 2 },
  { type: 'start', number: 1 },
  { type: 'triage', now: 10, fatal: false },
  { type: 'triage', now: 10, fatal: true },
  { type: 'adjust', now: 10, possible: true },
  { type: 'adjust', now: 10, possible: false },
  { type: 'complete', checkFailed: false },
  { type: 'complete', checkFailed: true },
  { type: 'cancel', reason: 'user' },
  { type: 'expire', now: 10 },
  { type: 'forgive' },
  { type: 'retry' },
  { type: 'reinstate' },
  { type: 'reset', all: false, unmet: false },
  { type: 'reset', all: false, unmet: true },
  { type: 'reset', all: true, unmet: false },
];

const cellOf = (state: TaskState, command: TaskCommand) =>
  (taskTable[state] as Record<string, { by: readonly Role[]; to: readonly TaskState[] }>)[command.type] as {
    by: readonly Role[];
    to: readonly TaskState[];
  };

describe('the table of the task', () => {
  it('knows every outcome that there is', () => {
    expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(outcomeKinds));
  });

  it.each(taskStates)(
    'answers every outcome of an attempt in state %s: accepted or ignored, never refused',
    (state) => {
      for (const view of viewsIn(state)) {
        for (const command of ends) {
          for (const role of ['operator', 'controller'] as const) {
            const decision = decideBy(taskTable, view, command, role);
            expect(decision.kind, `${state} ${JSON.stringify(command)}`).not.toBe('reject');
          }
        }
      }
    },
  );

  it.each(taskStates)('leads from %s only to the states that its cells name', (state) => {
    for (const view of viewsIn(state)) {
      for (const command of commands) {
        const { by, to } = cellOf(state, command);
        const decision = decideBy(taskTable, view, command, by[0] as Role);
        if (decision.kind !== 'accept') continue;
        for (const event of decision.events) if (event.type === 'moved') expect(to).toContain(event.move.to);
      }
    }
  });

  it.each(taskStates)('B27: lets nobody but the named roles act on a task in state %s', (state) => {
    for (const view of viewsIn(state)) {
      for (const command of commands) {
        const { by } = cellOf(state, command);
        for (const role of roles.filter((one) => !by.includes(one))) {
          expect(decideBy(taskTable, view, command, role)).toMatchObject({ kind: 'reject', code: 'role-not-allowed' });
        }
      }
    }
  });

  it('names no target that no view reaches', () => {
    const reached = new Map<string, Set<string>>();
    for (const state of taskStates) {
      for (const view of viewsIn(state)) {
        for (const command of commands) {
          const decision = decideBy(taskTable, view, command, cellOf(state, command).by[0] as Role);
          if (decision.kind !== 'accept') continue;
          for (const event of decision.events) {
            if (event.type !== 'moved') continue;
            const key = `${state} ${command.type}`;
            reached.set(key, (reached.get(key) ?? new Set()).add(event.move.to));
          }
        }
      }
    }
    for (const state of taskStates) {
      for (const command of commands) {
        const named = [...cellOf(state, command).to].sort();
        expect([...(reached.get(`${state} ${command.type}`) ?? [])].sort(), `${state} ${command.type}`).toEqual(named);
      }
    }
  });

  it('lets the owner say what becomes of a task whose worker is lost, and of no other', () => {
    const triage = (view: Partial<TaskView>) => {
      const triaging = { ...facts, state: 'triaging', cause: 'lost', ...view } as TaskView;
      const decision = decideBy(taskTable, triaging, { type: 'triage', now: 10, fatal: false }, 'controller');
      return decision.kind === 'accept' ? decision.events : [];
    };
    const charge = 'lost';
    const again = { to: 'queued', notBefore: expect.any(Number) };
    const hold = { type: 'held', held: true };
    expect(triage({ onLost: 'requeue' })).toEqual([{ type: 'moved', move: again, charge }]);
    expect(triage({ onLost: 'hold' })).toEqual([hold, { type: 'moved', move: { to: 'queued', notBefore: 0 }, charge }]);
    expect(triage({ onLost: 'fail' })).toEqual([{ type: 'moved', move: { to: 'failed', reason: 'lost' }, charge }]);
    for (const onLost of ['hold', 'fail'] as const) {
      expect(triage({ onLost, cause: 'attempts' })).toEqual([{ type: 'moved', move: again, charge: 'attempts' }]);
    }
    // A budget that is spent comes first: nothing is kept for its owner that would fail at once.
    expect(triage({ onLost: 'hold', used: { ...facts.used, lost: 5 } })).toMatchObject([{ move: { to: 'failed' } }]);
  });

  it('forgives what was charged while it is tried again, and a failure for want of attempts only', () => {
    const forgive = (view: Partial<TaskView>) =>
      decideBy(taskTable, { ...facts, ...view } as TaskView, { type: 'forgive' }, 'controller');
    const charged = { ...facts.used, attempts: 1 };
    for (const state of ['queued', 'launched', 'running'] as const) {
      expect(forgive({ state, notBefore: 0, used: charged } as Partial<TaskView>)).toMatchObject({ kind: 'accept' });
      expect(forgive({ state, notBefore: 0 } as Partial<TaskView>).kind).toBe('ignore');
    }
    expect(forgive({ state: 'failed', reason: 'attempts' })).toMatchObject({
      kind: 'accept',
      events: [{ fresh: true }],
    });
    for (const reason of ['lost', 'deadline', 'resources'] as const) {
      expect(forgive({ state: 'failed', reason }).kind).toBe('ignore');
    }
  });

  it('A25: cancelling what is being cancelled, or has ended, changes nothing and is no error', () => {
    for (const state of ['cancelling', 'done', 'failed', 'cancelled', 'aborted'] as const) {
      for (const view of viewsIn(state)) {
        expect(decideBy(taskTable, view, { type: 'cancel', reason: 'user' }, 'definer').kind).toBe('ignore');
      }
    }
  });

  it('A9: only a task that waits, or is being registered, gets a further dependency', () => {
    for (const state of taskStates) {
      for (const view of viewsIn(state)) {
        const { kind } = decideBy(taskTable, view, { type: 'acquire' }, 'definer');
        expect(kind).toBe(state === 'registering' || state === 'waiting' ? 'accept' : 'reject');
      }
    }
  });

  it('repeats a done task by nothing but a reset of all, and a join by one of what it waits for', () => {
    for (const view of viewsIn('done')) {
      for (const command of commands) {
        const decision = decideBy(taskTable, view, command, cellOf('done', command).by[0] as Role);
        const repeats = command.type === 'reset' && (command.all || (command.unmet && view.kind !== 'command'));
        expect(decision.kind === 'accept', `${view.kind} ${JSON.stringify(command)}`).toBe(repeats);
      }
    }
  });

  it('gives what is reset fresh budgets, lets it wait, and touches nothing that a worker has', () => {
    const reset = { type: 'reset', all: true, unmet: true } as const;
    for (const state of ['queued', 'triaging', 'adjusting', 'done', 'failed', 'cancelled'] as const) {
      for (const view of viewsIn(state)) {
        expect(decideBy(taskTable, view, reset, 'controller')).toEqual({
          kind: 'accept',
          events: [{ type: 'moved', move: { to: 'waiting' }, fresh: true }],
        });
      }
    }
    for (const state of ['launched', 'running', 'cancelling'] as const) {
      for (const view of viewsIn(state)) expect(decideBy(taskTable, view, reset, 'controller').kind).toBe('reject');
    }
  });

  it('A48: no command makes an available task inactive again, but a reset of its workflow: a hold is a flag', () => {
    for (const view of viewsIn('queued')) {
      for (const command of commands.filter(({ type }) => type !== 'reset')) {
        const decision = decideBy(taskTable, view, command, cellOf('queued', command).by[0] as Role);
        if (decision.kind !== 'accept') continue;
        for (const event of decision.events) if (event.type === 'moved') expect(event.move.to).not.toBe('waiting');
      }
    }
  });
});
