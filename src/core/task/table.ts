/**
 * The task's machine: the only definition of its transitions. Rules in short:
 * 1. A command that a definer repeats, and a message that comes late, are ignored; what can't be is rejected.
 * 2. A bad end goes through `triaging`, which charges the budget of its cause and decides: again, adjust, or failed.
 * 3. Only a queued task that is not held is launched, and only from `notBefore` on.
 * 4. Cancelling never waits for a worker; running again always does.
 * 5. Only a reset leaves `done`; what is reset waits, and its edges decide from there.
 */
import type { Cause, Role, TaskState } from '../../model/states.ts';
import { type BadOutcome, causeOf, isUncharged } from '../attempt/outcome.ts';
import { accept, type Cell, type Decision, ignore, ignored, refused, reject, type Table } from '../machine.ts';
import { isSpent, nextStart, reasonOfCause } from './budget.ts';
import type { TaskCommand, TaskEvent, TaskMove, TaskView } from './view.ts';

type Of<C extends TaskCommand['type']> = Extract<TaskCommand, { readonly type: C }>;
type In<S extends TaskState> = Extract<TaskView, { readonly state: S }>;
type TaskCell<V, C> = Cell<TaskState, V, C, TaskEvent>;

const moved = (
  move: TaskMove,
  extra: Omit<Extract<TaskEvent, { type: 'moved' }>, 'type' | 'move'> = {},
): TaskEvent => ({
  type: 'moved',
  move,
  ...extra,
});

const cell = <V, C>(
  by: readonly Role[],
  to: readonly TaskState[],
  decide: (view: V, command: C) => Decision<TaskEvent>,
): TaskCell<V, C> => ({ by, to, decide });

/** Where a task stands once its definer is ready with it, or once it is tried again. */
export const firstState = (task: { readonly held: boolean; readonly pending: number }): 'waiting' | 'queued' =>
  task.held || task.pending > 0 ? 'waiting' : 'queued';

const firstMove = (view: TaskView): TaskMove =>
  firstState(view) === 'queued' ? { to: 'queued', notBefore: 0 } : { to: 'waiting' };

const activated = cell(['controller'], ['waiting', 'queued'], (view: TaskView) => accept(moved(firstMove(view))));

const aborted = cell(['definer', 'controller'], ['aborted'], () => accept(moved({ to: 'aborted' })));

const acquired = cell(['definer'], [], () => accept());

const satisfied = cell(['controller'], ['queued'], (view: In<'waiting'>) => {
  if (view.pending > 0) return reject('transition-not-allowed', `${view.pending} dependencies are not met yet`);
  if (view.held) return ignore('it is held');
  return accept(moved({ to: 'queued', notBefore: 0 }));
});

const held = cell(['definer'], [], (view: TaskView) =>
  view.held ? ignore('it is held already') : accept({ type: 'held', held: true }),
);

const released = cell(['definer'], [], (view: TaskView) =>
  view.held ? accept({ type: 'held', held: false }) : ignore('it is not held'),
);

const releasedWaiting = cell(['definer'], ['queued'], (view: In<'waiting'>): Decision<TaskEvent> => {
  if (!view.held) return ignore('it is not held');
  const free: TaskEvent = { type: 'held', held: false };
  return view.pending > 0 ? accept(free) : accept(free, moved({ to: 'queued', notBefore: 0 }));
});

/** Also of one that has ended and may be tried again. */
const prioritised = cell(['definer'], [], (view: TaskView, { priority }: Of<'prioritise'>) =>
  view.priority === priority
    ? ignore('it has that priority already')
    : accept<TaskEvent>({ type: 'prioritised', priority }),
);

const takenTo = (to: 'launched' | 'running', by: Role): TaskCell<In<'queued'>, Of<'launch'> | Of<'claim'>> =>
  cell([by], [to], (view, command) => {
    if (view.held) return reject('transition-not-allowed', 'it is held');
    if (view.kind !== 'command') return reject('transition-not-allowed', 'it has no command to run');
    if (view.notBefore > command.now) return reject('transition-not-allowed', 'it waits before its next attempt');
    if (command.number !== view.attemptNumber + 1) return reject('attempt-superseded', 'another attempt was made');
    return accept(moved({ to, attempt: command.attempt, number: command.number }));
  });

const started = cell(['operator'], ['running'], (view: In<'launched'>, command: Of<'start'>) => {
  if (command.number !== view.attemptNumber || view.lastAttempt === undefined) return ignore('another attempt');
  return accept(moved({ to: 'running', attempt: view.lastAttempt, number: command.number }));
});

function toTriage(outcome: BadOutcome, view: TaskView): TaskMove {
  const cause = causeOf(outcome, view.adjusts);
  const isShort = cause === 'resources' && outcome.kind === 'resource';
  return { to: 'triaging', cause, ...(isShort ? { resource: outcome.resource } : {}) };
}

const ended = cell(
  ['operator', 'controller'],
  ['done', 'queued', 'triaging'],
  (view: TaskView, { number, outcome }: Of<'end'>) => {
    if (number !== view.attemptNumber) return ignore('another attempt');
    if (outcome.kind === 'succeeded') return accept(moved({ to: 'done' }));
    if (isUncharged(outcome)) return accept(moved({ to: 'queued', notBefore: 0 }));
    return accept(moved(toTriage(outcome as BadOutcome, view)));
  },
);

/** The worker was given up for lost and speaks after all, before the task got a new attempt. */
const endedAfterAll = cell(
  ['operator', 'controller'],
  ['done'],
  (view: In<'queued'> | In<'triaging'>, { number, outcome }: Of<'end'>) => {
    if (number !== view.attemptNumber) return ignore('another attempt');
    if (outcome.kind === 'succeeded') return accept(moved({ to: 'done' }));
    return ignore('it is being tried again already');
  },
);

const endedCancelling = cell(
  ['operator', 'controller'],
  ['done', 'failed', 'cancelled'],
  (view: In<'cancelling'>, { number, outcome }: Of<'end'>) => {
    if (number !== view.attemptNumber) return ignore('another attempt');
    switch (outcome.kind) {
      case 'succeeded':
        return accept(moved({ to: 'done' }));
      case 'exited':
      case 'signalled':
      case 'resource':
        return accept(moved({ to: 'failed', reason: 'attempts' }, { charge: 'attempts' }));
      case 'lost':
      case 'never-started':
      case 'cancelled':
        return accept(moved({ to: 'cancelled', reason: view.reason }));
    }
  },
);

const triaged = cell(
  ['controller'],
  ['queued', 'adjusting', 'failed'],
  (view: In<'triaging'>, { now, fatal }: Of<'triage'>) => {
    const { cause, resource = 'memory' } = view;
    const charge = { charge: cause };
    if (fatal || isSpent(view, cause)) return accept(moved({ to: 'failed', reason: reasonOfCause[cause] }, charge));
    if (view.until < now) return accept(moved({ to: 'failed', reason: 'deadline' }, charge));
    if (cause === 'lost' && view.onLost !== 'requeue') return onLoss(view, charge);
    if (cause === 'resources') return accept(moved({ to: 'adjusting', resource }, charge));
    return accept(moved({ to: 'queued', notBefore: nextStart(view, cause, now) }, charge));
  },
);

/** Nobody can be sure that a lost worker's process is dead: the owner may not want to bet on it. */
const onLoss = (view: In<'triaging'>, charge: { readonly charge: Cause }): Decision<TaskEvent> =>
  view.onLost === 'fail'
    ? accept(moved({ to: 'failed', reason: 'lost' }, charge))
    : accept<TaskEvent>({ type: 'held', held: true }, moved({ to: 'queued', notBefore: 0 }, charge));

const adjusted = cell(['controller'], ['queued', 'failed'], (view: In<'adjusting'>, { now, possible }: Of<'adjust'>) =>
  possible
    ? accept(moved({ to: 'queued', notBefore: nextStart(view, 'resources', now) }))
    : accept(moved({ to: 'failed', reason: 'resources' })),
);

const completed = cell(
  ['controller'],
  ['done', 'failed'],
  (view: In<'queued'>, { checkFailed }: Of<'complete'>): Decision<TaskEvent> => {
    if (view.kind === 'command') return reject('transition-not-allowed', 'it has a command to run');
    if (view.held) return ignore('it is held');
    if (view.kind === 'check' && checkFailed) return accept(moved({ to: 'failed', reason: 'check' }));
    return accept(moved({ to: 'done' }));
  },
);

const cancelled = cell(['definer', 'controller'], ['cancelled'], (_: TaskView, { reason }: Of<'cancel'>) =>
  accept(moved({ to: 'cancelled', reason })),
);

const cancelling = cell(['definer', 'controller'], ['cancelling'], (_: TaskView, { reason }: Of<'cancel'>) =>
  accept(moved({ to: 'cancelling', reason })),
);

const expired = cell(['controller'], ['failed'], (view: TaskView, { now }: Of<'expire'>) =>
  view.until < now ? accept(moved({ to: 'failed', reason: 'deadline' })) : ignore('there is time left'),
);

const forgivenTriaging = cell(['controller'], ['queued'], () => accept(moved({ to: 'queued', notBefore: 0 })));

const forgivenFailed = cell(['controller'], ['waiting', 'queued'], (view: In<'failed'>) =>
  view.reason === 'attempts' ? accept(moved(firstMove(view), { fresh: true })) : ignore('it failed for another reason'),
);

/** It is being tried again already. */
const refunded = cell(['controller'], [], (view: TaskView) =>
  view.used.attempts > 0 ? accept<TaskEvent>({ type: 'refunded', cause: 'attempts' }) : ignore('nothing was charged'),
);

const retried = cell(['definer', 'controller'], ['waiting', 'queued'], (view: TaskView) =>
  accept(moved(firstMove(view), { fresh: true })),
);

const reinstated = cell(['controller'], ['waiting', 'queued'], (view: In<'cancelled'>) =>
  view.reason === 'upstream' || view.reason === 'unneeded'
    ? accept(moved(firstMove(view), { fresh: true }))
    : ignore('it was cancelled for a reason of its own'),
);

const again = (): Decision<TaskEvent> => accept(moved({ to: 'waiting' }, { fresh: true }));

const reset = cell(['controller'], ['waiting'], again);

/** A join costs nothing to repeat, and would else let pass what is to wait for its parents. */
const resetDone = cell(['controller'], ['waiting'], (view: In<'done'>, { all, unmet }: Of<'reset'>) =>
  all || (unmet && view.kind !== 'command') ? again() : ignore('done tasks are not repeated'),
);

const resetQueued = cell(['controller'], ['waiting'], (view: In<'queued'>, { unmet }: Of<'reset'>) => {
  const isFresh = view.notBefore === 0 && Object.values(view.used).every((count) => count === 0);
  return unmet || !isFresh ? again() : ignore('it is as fresh as it can be');
});

const notNow = refused('not in this state');
const late = ignored('the task is past that');
const early = refused('it is still being registered');
const notWaiting = refused('it no longer waits', 'continuation-not-waiting');
const goesOn = ignored('it is on its way already');
const over = ignored('it has ended');
const alive = refused('its last attempt has not ended yet');

export const taskTable: Table<TaskState, TaskView, TaskCommand, TaskEvent> = {
  registering: {
    activate: activated,
    abort: aborted,
    acquire: acquired,
    satisfy: ignored('it is still being registered'),
    hold: held,
    release: released,
    prioritise: prioritised,
    launch: early,
    claim: early,
    start: late,
    end: late,
    triage: early,
    adjust: early,
    complete: early,
    cancel: cancelled,
    expire: ignored('it is still being registered'),
    forgive: late,
    retry: goesOn,
    reinstate: goesOn,
    reset: early,
  },
  waiting: {
    activate: late,
    abort: notNow,
    acquire: acquired,
    satisfy: satisfied,
    hold: held,
    release: releasedWaiting,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: late,
    end: late,
    triage: notNow,
    adjust: notNow,
    complete: notNow,
    cancel: cancelled,
    expire: expired,
    forgive: late,
    retry: goesOn,
    reinstate: goesOn,
    reset: ignored('it waits already'),
  },
  queued: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: goesOn,
    hold: held,
    release: released,
    prioritise: prioritised,
    launch: takenTo('launched', 'distributor'),
    claim: takenTo('running', 'operator'),
    start: late,
    end: endedAfterAll,
    triage: notNow,
    adjust: notNow,
    complete: completed,
    cancel: cancelled,
    expire: expired,
    forgive: refunded,
    retry: goesOn,
    reinstate: goesOn,
    reset: resetQueued,
  },
  launched: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: goesOn,
    hold: notNow,
    release: released,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: started,
    end: ended,
    triage: notNow,
    adjust: notNow,
    complete: notNow,
    cancel: cancelling,
    expire: ignored('it was sent in time'),
    forgive: refunded,
    retry: goesOn,
    reinstate: goesOn,
    reset: alive,
  },
  running: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: goesOn,
    hold: notNow,
    release: released,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: ignored('it runs already'),
    end: ended,
    triage: notNow,
    adjust: notNow,
    complete: notNow,
    cancel: cancelling,
    expire: ignored('it has started in time'),
    forgive: refunded,
    retry: goesOn,
    reinstate: goesOn,
    reset: alive,
  },
  triaging: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: goesOn,
    hold: held,
    release: released,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: late,
    end: endedAfterAll,
    triage: triaged,
    adjust: notNow,
    complete: notNow,
    cancel: cancelled,
    expire: expired,
    forgive: forgivenTriaging,
    retry: goesOn,
    reinstate: goesOn,
    reset: reset,
  },
  adjusting: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: goesOn,
    hold: held,
    release: released,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: late,
    end: late,
    triage: notNow,
    adjust: adjusted,
    complete: notNow,
    cancel: cancelled,
    expire: expired,
    forgive: late,
    retry: goesOn,
    reinstate: goesOn,
    reset: reset,
  },
  cancelling: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: late,
    hold: notNow,
    release: released,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: ignored('it is being cancelled'),
    end: endedCancelling,
    triage: notNow,
    adjust: notNow,
    complete: notNow,
    cancel: ignored('it is being cancelled already'),
    expire: late,
    forgive: late,
    retry: alive,
    reinstate: late,
    reset: alive,
  },
  done: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: late,
    hold: notNow,
    release: late,
    prioritise: over,
    launch: notNow,
    claim: notNow,
    start: late,
    end: late,
    triage: notNow,
    adjust: notNow,
    complete: late,
    cancel: over,
    expire: over,
    forgive: late,
    retry: ignored('done tasks are not repeated'),
    reinstate: over,
    reset: resetDone,
  },
  failed: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: late,
    hold: notNow,
    release: late,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: late,
    end: late,
    triage: notNow,
    adjust: notNow,
    complete: late,
    cancel: over,
    expire: over,
    forgive: forgivenFailed,
    retry: retried,
    reinstate: over,
    reset: reset,
  },
  cancelled: {
    activate: late,
    abort: notNow,
    acquire: notWaiting,
    satisfy: ignored('it is cancelled'),
    hold: notNow,
    release: late,
    prioritise: prioritised,
    launch: notNow,
    claim: notNow,
    start: late,
    end: late,
    triage: notNow,
    adjust: notNow,
    complete: late,
    cancel: over,
    expire: over,
    forgive: late,
    retry: retried,
    reinstate: reinstated,
    reset: reset,
  },
  aborted: {
    activate: late,
    abort: ignored('it is aborted already'),
    acquire: notWaiting,
    satisfy: late,
    hold: notNow,
    release: late,
    prioritise: over,
    launch: notNow,
    claim: notNow,
    start: late,
    end: late,
    triage: notNow,
    adjust: notNow,
    complete: late,
    cancel: over,
    expire: over,
    forgive: late,
    retry: refused('its registration did not complete; submit it again'),
    reinstate: over,
    reset: refused('its registration did not complete; submit it again'),
  },
};
