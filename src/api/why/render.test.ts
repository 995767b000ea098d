/** What is said for each reason, by the states in which the core gives it. */
import { Value } from 'typebox/value';
import { expect, it } from 'vitest';
import { command } from '../../../test/core/herd.ts';
import { reasonCases } from '../../../test/core/reasons.ts';
import { times, Yard } from '../../../test/core/yard.ts';
import type { Outcome } from '../../model/outcome.ts';
import { type ReasonKind, reasonKinds } from '../../model/reasons.ts';
import { ReasonView } from '../../protocol/views/why.ts';
import { renderReason } from './render.ts';

/** `change`: what else is known when it is told. */
function viewOf(kind: ReasonKind, change: (yard: Yard) => void = () => {}): ReasonView {
  const { yard, workflow, task, reasons } = reasonCases[kind].make();
  change(yard);
  const { cluster, now } = yard;
  const reason = reasons.find((one) => one.kind === kind);
  if (reason === undefined) throw new Error(`there is no ${kind}`);
  const outcome: Outcome = { kind: 'exited', code: 1 };
  const outcomes = new Map('attempt' in reason && reason.attempt !== undefined ? [[reason.attempt, outcome]] : []);
  const subject = task === undefined ? `w${workflow}` : `w${workflow}.${cluster.tasks.index(task)}`;
  const called = task === undefined ? 'it' : `its workflow w${workflow}`;
  return renderReason(reason, { cluster, now, subject, workflow: called, task, outcomes, shortfalls: new Map() });
}

/** The sentence, and what can be done. */
const said: Readonly<Record<ReasonKind, readonly string[]>> = {
  registering: ['its workflow w1 is still being submitted; it is given up in 1m 0s if no more is heard of it'],
  'workflow-starting': ['its workflow w1 is about to begin (queued)'],
  'workflow-halted': ['its workflow w1 is halted', 'drover resume w1'],
  'workflow-stopping': ['its workflow w1 is being cancelled'],
  dependencies: [
    'it waits for 7 tasks: w1.3 (queued), w1.4 (queued), w1.5 (queued), w1.6 (queued), w1.7 (queued, its failure counts) and 2 more',
  ],
  held: ['it is held', 'drover release w1.1'],
  'back-off': ['it waits for another 845 ms before it is tried again, after attempt 1: exit 1'],
  suspended: [
    'it failed on k1 on host h, which is suspected to be at fault: first w1.3 is tried elsewhere, for another 1m 0s at most',
  ],
  settling: ['all that it waited for is there: it is about to be queued'],
  'latest-start': ['it fails unless it is started in 4.0 s'],
  'initial-wait': [
    'the controller launches nothing for another 8.0 s: its store is older than what a worker remembers, and others may still run tasks of it; k1 on host h has tasks that it does not know',
  ],
  limit: ["it asks for 1.5 of the limit 'matlab', of which 1.5 of 2 are in use by w1.1", 'drover limit matlab 3'],
  'workflow-limit': ['1 task of its workflow w1 runs, and at most 1 may', 'drover concurrency w1 none'],
  'group-limit': ['1 task of template fit runs, and at most 1 may', 'drover concurrency w1 --template fit=none'],
  'no-worker': ['there is no worker', 'drover worker'],
  'no-queue': ["it asks for queue 'big', which no worker has; there is 'default'", 'drover worker --queue big'],
  'too-large': [
    "it asks for 16 cpus; the nearest of 2 workers of queue 'default', k2 on host h, has 8",
    'drover worker slots k2 16',
    'drover worker -j 16',
  ],
  'workers-unavailable': [
    'no worker that could run it gets tasks: k1 on host h (drained: by command), k2 on host h (unhealthy: no heartbeat), k3 on host h (not connected), k4 on host h (new, and what it runs is not known yet), k5 on host h (about to end: by command)',
    'drover worker release k1',
    'drover workers',
  ],
  unclaimed: ['only workers over HTTP could run it, and none has claimed it: k2 on host h'],
  'slots-busy': ['none of the 2 slots of 1 worker that could run it is free'],
  'no-room': [
    'k1 on host h has no room now: it asks for 600 B of memory, of which 300 B are free; it asks for 1 of scratch, of which 0.5 are free; it has w1.1',
  ],
  reserved: ['k1 on host h has room that is kept for a task which has waited longer, and asks for 2 cpus'],
  'reserved-for-it': ['k1 on host h gets nothing else until it, or one like it, fits there'],
  avoided: [
    'only k1 on host h has room, on which it failed: it is to show elsewhere whether that worker is at fault, and waits for another 1m 0s at most',
  ],
  'higher-priority': ['about 5 tasks of a higher priority than 0 go first', 'drover priority 6 w2.1'],
  behind: ['about 4 tasks of its priority go first'],
  next: ['1 worker has room: it is about to be sent'],
  sent: ['it was sent to k1 on host h 0 ms ago, which has not answered yet'],
  unsure: ['it was sent to k1 on host h, and nobody knows whether it arrived: the worker is asked'],
  'queued-at-worker': ['it is at k1 on host h and waits until there is room, behind 1 other'],
  running: ['it has been running on k1 on host h for 0 ms', 'drover logs w1.1 -f'],
  cancelling: ['it is being cancelled, by command: k1 on host h ends its process'],
  'worker-silent': [
    'k1 on host h is unhealthy: no heartbeat; what it has is given up in 7.0 s unless that changes',
    'drover workers',
  ],
  done: ['it has ended well'],
  failed: ['it failed: exit 1', 'drover logs w1.1 --stderr', 'drover retry w1.1'],
  cancelled: ['it was cancelled since what it depends on can not come any more: w1.1 (failed)'],
  aborted: ['w1 was given up before all of it was there, and has to be submitted again'],
  open: ['it is open: more tasks may come', 'drover close w1'],
  ended: ['it has ended well'],
};

it.each(reasonKinds)('%s is said in a sentence, with what to do about it', (kind) => {
  const view = viewOf(kind);
  expect([view.text, ...view.advice]).toEqual(said[kind]);
  expect([...Value.Errors(ReasonView, view)]).toEqual([]);
  // As JSON it is the same: nothing is undefined, or not a number.
  expect(JSON.parse(JSON.stringify(view))).toEqual(view);
});

it('of a worker that is not connected it is said when it can be asked, and what shows that it is dead', () => {
  const leave = (yard: Yard): void => {
    yard.worker().isAway = true;
  };
  expect(viewOf('unsure', leave).text).toBe(
    'it was sent to k1 on host h, and nobody knows whether it arrived: the worker is asked when it is connected again',
  );
  expect(viewOf('worker-silent', leave).text).toBe(
    'k1 on host h is unhealthy: no heartbeat; what it has is given up in 7.0 s unless that changes; if it is dead, a worker that is started there shows that at once',
  );
});

it('a single slot is spoken of as one', () => {
  const yard = new Yard(1);
  const w = yard.submit(times(2, command));
  yard.launch();
  const [reason] = yard.why(w, 2).reasons;
  if (reason === undefined) throw new Error('there is none');
  const { cluster, now } = yard;
  const told = { cluster, now, subject: 'w1.2', workflow: 'its workflow w1', task: yard.task(w, 2) };
  const { text } = renderReason(reason, { ...told, outcomes: new Map(), shortfalls: new Map() });
  expect(text).toBe('the only slot of 1 worker that could run it is not free');
});
