/**
 * The workflow's machine, with its runs: the only definition of its transitions.
 * 1. Each move to `instantiating` is a new run; the move that ends the workflow ends the run. At most one is live.
 * 2. `stop` says that what is left of the work is being cancelled (by the user, or by fail-fast): nothing is launched.
 * 3. A halted workflow keeps its tasks waiting or queued; its state alone says why they do not move.
 * 4. A reset leaves it halted: what was reset runs when it is resumed.
 */
import type { EndedWorkflowState, HaltMode, Role, WorkflowState } from '../../model/states.ts';
import { accept, type Cell, type Decision, ignore, ignored, refused, reject, type Table } from '../machine.ts';

export type Stop = 'user' | 'fail-fast';

/** How a run begins; `retry`: for the tasks that were named, without resetting others. */
export type RunKind = 'fresh' | 'hot' | 'cold' | 'retry';

interface WorkflowFacts {
  /** Tasks may still be added while it runs. */
  readonly open: boolean;
  readonly stop: Stop | undefined;
  readonly haltMode: HaltMode | undefined;
  /** Attempts that a worker still holds. */
  readonly live: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Tasks that have not ended. */
  readonly unended: number;
}

export type WorkflowView = { [S in WorkflowState]: WorkflowFacts & { readonly state: S } }[WorkflowState];

export type WorkflowCommand =
  | { readonly type: 'extend' }
  | { readonly type: 'close' }
  | { readonly type: 'abort' }
  /** Its turn has come: a run begins. */
  | { readonly type: 'admit' }
  /** The graph is loaded, what is to be tried again is reset. */
  | { readonly type: 'instantiate' }
  | { readonly type: 'schedule' }
  | { readonly type: 'finish' }
  | { readonly type: 'halt'; readonly mode: HaltMode }
  /** Draining, or killing, has ended. */
  | { readonly type: 'settle' }
  | { readonly type: 'resume'; readonly how: 'hot' | 'cold' }
  /** Its tasks begin anew: those that are not done, or all of them. */
  | { readonly type: 'reset'; readonly all: boolean }
  /** One of its tasks is tried again. */
  | { readonly type: 'reopen' }
  | { readonly type: 'cancel' }
  | { readonly type: 'fail-fast' };

export type WorkflowEvent =
  | { readonly type: 'moved'; readonly to: WorkflowState; readonly run?: RunKind }
  | { readonly type: 'closed' }
  | { readonly type: 'stopping'; readonly stop: Stop }
  | { readonly type: 'halt-mode'; readonly mode: HaltMode };

type Of<C extends WorkflowCommand['type']> = Extract<WorkflowCommand, { readonly type: C }>;
type WorkflowCell<C> = Cell<WorkflowState, WorkflowFacts, C, WorkflowEvent>;

const cell = <C>(
  by: readonly Role[],
  to: readonly WorkflowState[],
  decide: (view: WorkflowFacts, command: C) => Decision<WorkflowEvent>,
): WorkflowCell<C> => ({ by, to, decide });

const moved = (to: WorkflowState): WorkflowEvent => ({ type: 'moved', to });

const extended = cell(['definer'], [], () => accept());
const extendedIfOpen = cell(['definer'], [], (view) =>
  view.open ? accept() : reject('transition-not-allowed', 'it was closed: no task can be added'),
);
const registered = cell(['definer'], ['queued'], () => accept<WorkflowEvent>({ type: 'closed' }, moved('queued')));
const closed = cell(['definer'], [], (view) =>
  view.open ? accept<WorkflowEvent>({ type: 'closed' }) : ignore('it is closed already'),
);
const aborted = cell(['definer', 'controller'], ['aborted'], () => accept(moved('aborted')));
const admitted = cell(['controller'], ['instantiating'], () =>
  accept<WorkflowEvent>({ type: 'moved', to: 'instantiating', run: 'fresh' }),
);
const instantiated = cell(['controller'], ['launched'], () => accept(moved('launched')));
const scheduled = cell(['distributor'], ['running'], () => accept(moved('running')));

function endOf(view: WorkflowFacts): EndedWorkflowState {
  if (view.failed > 0) return 'failed';
  return view.cancelled > 0 ? 'cancelled' : 'done';
}

const finished = cell(['controller'], ['done', 'failed', 'cancelled'], (view) => {
  if (view.unended > 0) return reject('transition-not-allowed', `${view.unended} tasks have not ended`);
  if (view.open) return reject('transition-not-allowed', 'it is open: tasks may still come');
  return accept(moved(endOf(view)));
});

const halting = cell(['definer', 'controller'], ['halting'], (_, { mode }: Of<'halt'>) =>
  accept<WorkflowEvent>(moved('halting'), { type: 'halt-mode', mode }),
);
const haltedAtOnce = cell(['definer', 'controller'], ['halted'], () => accept(moved('halted')));
const haltedHarder = cell(['definer', 'controller'], [], (view, { mode }: Of<'halt'>) =>
  mode === 'kill' && view.haltMode !== 'kill'
    ? accept<WorkflowEvent>({ type: 'halt-mode', mode })
    : ignore('it is halting already'),
);
const settled = cell(['controller'], ['halted'], (view) =>
  view.live > 0 ? reject('transition-not-allowed', `${view.live} attempts have not ended`) : accept(moved('halted')),
);

const resumed = cell(['definer'], ['instantiating'], (_, { how }: Of<'resume'>) =>
  accept<WorkflowEvent>({ type: 'moved', to: 'instantiating', run: how }),
);
const resumedWhileHalting = cell(['definer'], ['instantiating'], (view, { how }: Of<'resume'>) => {
  if (view.stop !== undefined) return reject('transition-not-allowed', 'it is being cancelled');
  return how === 'hot' || view.live === 0
    ? accept<WorkflowEvent>({ type: 'moved', to: 'instantiating', run: how })
    : reject('run-is-live', `${view.live} attempts of the last run have not ended`);
});

const resetAgain = cell(['definer'], [], () => accept());
const resetEnded = cell(['definer'], ['halted'], () => accept(moved('halted')));
const resetDone = cell(['definer'], ['halted'], (_, { all }: Of<'reset'>) =>
  all ? accept(moved('halted')) : ignore('all of it is done'),
);

const reopened = cell(['controller'], ['instantiating'], () =>
  accept<WorkflowEvent>({ type: 'moved', to: 'instantiating', run: 'retry' }),
);

/** Nothing can be added any more, either: else an open workflow would never end. */
const stops = (view: WorkflowFacts, stop: Stop): WorkflowEvent[] => [
  { type: 'stopping', stop },
  ...(view.open ? [{ type: 'closed' } as const] : []),
];
const stopping = (stop: Stop, by: Role): WorkflowCell<unknown> =>
  cell([by], [], (view) => (view.stop === undefined ? accept(...stops(view, stop)) : ignore('it stops already')));
const cancelledHalted = cell(['definer'], ['halting'], (view) => accept(...stops(view, 'user'), moved('halting')));

const notNow = refused('not in this state');
const early = refused('it is still being registered');
const late = ignored('it is past that');
const over = ignored('it has ended');
const goesOn = ignored('it is going on');
const live = refused('it has a live run', 'run-is-live');

export const workflowTable: Table<WorkflowState, WorkflowView, WorkflowCommand, WorkflowEvent> = {
  registering: {
    extend: extended,
    close: registered,
    abort: aborted,
    admit: early,
    instantiate: early,
    schedule: early,
    finish: early,
    halt: early,
    settle: early,
    resume: early,
    reset: early,
    reopen: early,
    cancel: aborted,
    'fail-fast': early,
  },
  queued: {
    extend: extendedIfOpen,
    close: closed,
    abort: notNow,
    admit: admitted,
    instantiate: notNow,
    schedule: notNow,
    finish: notNow,
    halt: haltedAtOnce,
    settle: late,
    resume: live,
    reset: live,
    reopen: goesOn,
    cancel: stopping('user', 'definer'),
    'fail-fast': notNow,
  },
  instantiating: {
    extend: extendedIfOpen,
    close: closed,
    abort: notNow,
    admit: late,
    instantiate: instantiated,
    schedule: notNow,
    finish: notNow,
    halt: halting,
    settle: late,
    resume: live,
    reset: live,
    reopen: goesOn,
    cancel: stopping('user', 'definer'),
    'fail-fast': stopping('fail-fast', 'controller'),
  },
  launched: {
    extend: extendedIfOpen,
    close: closed,
    abort: notNow,
    admit: late,
    instantiate: late,
    schedule: scheduled,
    finish: notNow,
    halt: halting,
    settle: late,
    resume: live,
    reset: live,
    reopen: goesOn,
    cancel: stopping('user', 'definer'),
    'fail-fast': stopping('fail-fast', 'controller'),
  },
  running: {
    extend: extendedIfOpen,
    close: closed,
    abort: notNow,
    admit: late,
    instantiate: late,
    schedule: late,
    finish: finished,
    halt: halting,
    settle: late,
    resume: live,
    reset: live,
    reopen: goesOn,
    cancel: stopping('user', 'definer'),
    'fail-fast': stopping('fail-fast', 'controller'),
  },
  halting: {
    extend: extendedIfOpen,
    close: closed,
    abort: notNow,
    admit: notNow,
    instantiate: notNow,
    schedule: notNow,
    finish: finished,
    halt: haltedHarder,
    settle: settled,
    resume: resumedWhileHalting,
    reset: refused('its last run has not halted yet', 'run-is-live'),
    reopen: goesOn,
    cancel: stopping('user', 'definer'),
    'fail-fast': stopping('fail-fast', 'controller'),
  },
  halted: {
    extend: extendedIfOpen,
    close: closed,
    abort: notNow,
    admit: notNow,
    instantiate: notNow,
    schedule: notNow,
    finish: notNow,
    halt: ignored('it is halted already'),
    settle: late,
    resume: resumed,
    reset: resetAgain,
    reopen: ignored('it is halted: a resume will run it'),
    cancel: cancelledHalted,
    'fail-fast': over,
  },
  done: {
    extend: notNow,
    close: over,
    abort: notNow,
    admit: notNow,
    instantiate: notNow,
    schedule: notNow,
    finish: over,
    halt: over,
    settle: over,
    resume: ignored('all of it is done'),
    reset: resetDone,
    reopen: reopened,
    cancel: over,
    'fail-fast': over,
  },
  failed: {
    extend: notNow,
    close: over,
    abort: notNow,
    admit: notNow,
    instantiate: notNow,
    schedule: notNow,
    finish: over,
    halt: over,
    settle: over,
    resume: resumed,
    reset: resetEnded,
    reopen: reopened,
    cancel: over,
    'fail-fast': over,
  },
  cancelled: {
    extend: notNow,
    close: over,
    abort: notNow,
    admit: notNow,
    instantiate: notNow,
    schedule: notNow,
    finish: over,
    halt: over,
    settle: over,
    resume: refused('it was cancelled; submit it again'),
    reset: resetEnded,
    reopen: reopened,
    cancel: over,
    'fail-fast': over,
  },
  aborted: {
    extend: notNow,
    close: notNow,
    abort: ignored('it is aborted already'),
    admit: notNow,
    instantiate: notNow,
    schedule: notNow,
    finish: over,
    halt: over,
    settle: over,
    resume: refused('its registration did not complete; submit it again'),
    reset: refused('its registration did not complete; submit it again'),
    reopen: refused('its registration did not complete; submit it again'),
    cancel: over,
    'fail-fast': over,
  },
};
