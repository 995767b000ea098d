/** Each reason as a sentence. */
import type { Cluster } from '../../core/cluster.ts';
import { askedText } from '../../core/resources/queues.ts';
import type { Shortage } from '../../core/resources/room.ts';
import type { Reason, ReasonOf, Settling, Unavailable } from '../../core/why/reason.ts';
import { printAttempt, printWorkflow, type WorkerId } from '../../model/ids.ts';
import type { Obstacle, ReasonKind } from '../../model/reasons.ts';
import { showBytes, showCount, showDuration } from '../../model/units.ts';
import {
  amountOf,
  dependencyName,
  forTime,
  inTime,
  listed,
  namesOf,
  needText,
  outcomeText,
  type Told,
  taskName,
  workerName,
} from './told.ts';

type Sentences = { readonly [K in ReasonKind]: (reason: ReasonOf<K>, told: Told) => string };

const settlings: Readonly<Record<Settling, string>> = {
  release: 'all that it waited for is there: it is about to be queued',
  cancel: 'what it waits for can not come any more: it is about to be cancelled',
  triage: 'its last attempt has ended, and what follows is about to be decided',
  adjust: 'what it ran out of is about to be raised',
  complete: 'all before it has ended, and so will it',
};

const obstacleWords: Readonly<Record<Obstacle, string>> = {
  new: 'new, and what it runs is not known yet',
  unhealthy: 'unhealthy',
  'must-die': 'given up',
  gone: 'gone',
  away: 'not connected',
  drained: 'drained',
  stopping: 'about to end',
  quarantined: 'quarantined',
  http: 'one that takes tasks itself',
};

function obstacleText({ obstacle, why }: Omit<Unavailable, 'worker'>): string {
  const isSaid = why === undefined || obstacle === 'new' || obstacle === 'away';
  return isSaid ? obstacleWords[obstacle] : `${obstacleWords[obstacle]}: ${why}`;
}

const shown = (of: Shortage['of'], amount: number): string => (of === 'memory' ? showBytes(amount) : String(amount));

/** `cpus`, `of memory`, `of the pool scratch` */
function whatOf(of: Shortage['of']): string {
  if (of === 'memory') return 'of memory';
  return of.startsWith('pool:') ? `of ${of.slice('pool:'.length)}` : of;
}

const shortageText = ({ of, asked, free }: Shortage): string =>
  of === 'attempts'
    ? 'it has as many tasks as one worker may'
    : `it asks for ${shown(of, asked)} ${whatOf(of)}, of which ${shown(of, free)} ${free === 1 ? 'is' : 'are'} free`;

const cancelWords = {
  user: 'by command',
  upstream: 'since what it depends on can not come any more',
  'fail-fast': 'since another task failed, and its workflow fails fast',
  unneeded: 'since it is not needed',
} as const;

const endings = {
  done: 'it has ended well',
  failed: 'it has ended, and not all of it was done',
  cancelled: 'it was cancelled',
  aborted: 'it was given up before all of it was there, and has to be submitted again',
} as const;

const limitText = ({ max, used }: { readonly max: number; readonly used: number }, of: string): string =>
  max === 0
    ? `no task of ${of} may run`
    : `${amountOf(used, 'task')} of ${of} ${used === 1 ? 'runs' : 'run'}, and at most ${max} may`;

const isAway = ({ workers }: Cluster, worker: WorkerId): boolean => workers.get(worker)?.isAway ?? false;

const groupText = (group: string): string => group.replace(':', ' ');

const sentences: Sentences = {
  registering: ({ until }, { workflow, now }) =>
    `${workflow} is still being submitted; it is given up ${inTime(until, now)} if no more is heard of it`,
  'workflow-starting': ({ state }, { workflow }) => `${workflow} is about to begin (${state})`,
  'workflow-halted': ({ state, mode, live }, { workflow }) => {
    if (state === 'halted') return `${workflow} is halted`;
    const rest = mode === 'kill' ? 'being killed' : 'left to end';
    return `${workflow} is being halted, with ${amountOf(live, 'running task')} ${rest}`;
  },
  'workflow-stopping': ({ stop }, { workflow }) =>
    stop === 'user'
      ? `${workflow} is being cancelled`
      : `${workflow} fails fast: what is left of it is being cancelled`,
  dependencies: ({ on }, { cluster }) => {
    const names = listed(namesOf(on, (one) => dependencyName(cluster, one)));
    return `it waits for ${amountOf(on.count, 'task')}${names === '' ? '' : `: ${names}`}`;
  },
  held: ({ isAfterLoss }) =>
    isAfterLoss ? 'it is held, since its worker was lost and may have run it to its end' : 'it is held',
  'back-off': ({ until, attempt, number }, told) => {
    const end = outcomeText(told, attempt);
    const after = number === 0 ? '' : `, after attempt ${number}${end === '' ? '' : `: ${end}`}`;
    return `it waits ${forTime(until, told.now)} before it is tried again${after}`;
  },
  suspended: ({ worker, trial, until }, { cluster, now }) =>
    `it failed on ${workerName(cluster, worker)}, which is suspected to be at fault: first ${taskName(cluster, trial)} is tried elsewhere, ` +
    `${forTime(until, now)} at most`,
  settling: ({ what }) => settlings[what],
  'latest-start': ({ until }, { now }) =>
    until < now
      ? 'its latest start has passed: it fails in a moment'
      : `it fails unless it is started ${inTime(until, now)}`,
  'initial-wait': ({ until, workers }, { cluster, now }) => {
    const names = listed(namesOf(workers, (worker) => workerName(cluster, worker)));
    const unknown =
      names === '' ? '' : `; ${names} ${workers.count === 1 ? 'has' : 'have'} tasks that it does not know`;
    return until === undefined
      ? `the controller launches nothing until what it does not know of has ended${unknown}`
      : `the controller launches nothing ${forTime(until, now)}: its store is older than what a worker remembers, and others may still run ` +
          `tasks of it${unknown}`;
  },
  limit: ({ name, max, used, asked, holders }, { cluster }) => {
    const names = listed(namesOf(holders, (task) => taskName(cluster, task)));
    const by = names === '' ? '' : ` by ${names}`;
    const isMore = asked > max ? '; it will never get as many' : '';
    return `it asks for ${asked} of the limit '${name}', of which ${used} of ${max} are in use${by}${isMore}`;
  },
  'workflow-limit': (limit, { workflow }) => limitText(limit, workflow),
  'group-limit': (limit) => limitText(limit, groupText(limit.group)),
  'no-worker': ({ leaving }) =>
    leaving === 0 ? 'there is no worker' : `there is no worker but ${leaving === 1 ? 'one' : leaving} that will end`,
  'no-queue': ({ queue, others }) => {
    const names = listed(namesOf(others, (one) => `'${one}'`));
    return `it asks for queue '${queue}', which no worker has${names === '' ? '' : `; there is ${names}`}`;
  },
  'too-large': ({ need, nearest, lacks, workers, isCut }, { cluster }) => {
    const asked = lacks.map(askedText).join(' and ');
    const there = lacks.map((lack) => lack.there).join(' and ');
    return (
      `it asks for ${asked}; the nearest of ${amountOf(workers, 'worker', isCut)} of queue '${need.queue}', ` +
      `${workerName(cluster, nearest)}, has ${there}`
    );
  },
  'workers-unavailable': ({ workers }, { cluster }) => {
    const names = listed(namesOf(workers, (one) => `${workerName(cluster, one.worker)} (${obstacleText(one)})`));
    return `no worker that could run it gets tasks: ${names}`;
  },
  unclaimed: ({ workers }, { cluster }) =>
    `only workers over HTTP could run it, and none has claimed it: ${listed(namesOf(workers, (id) => workerName(cluster, id)))}`,
  'slots-busy': ({ workers, slots, isCut, nearest, asked, free }, { cluster }) => {
    const all = `${amountOf(workers, 'worker', isCut)} that could run it`;
    if (free === 0 && slots === 1) return `the only slot of ${all} is not free`;
    if (free === 0) return `none of the ${amountOf(slots, 'slot', isCut)} of ${all} is free`;
    return `it asks for ${asked} cpus, and ${workerName(cluster, nearest)}, the nearest of ${all}, has ${free} free`;
  },
  'no-room': ({ nearest, short, runs, workers, isCut }, { cluster }) => {
    const names = listed(namesOf(runs, (task) => taskName(cluster, task)));
    const others = workers === 1 ? '' : `, the nearest of ${amountOf(workers, 'worker', isCut)},`;
    return `${workerName(cluster, nearest)}${others} has no room now: ${short.map(shortageText).join('; ')}; it has ${names}`;
  },
  reserved: ({ workers, need }, { cluster }) =>
    `${listed(namesOf(workers, (id) => workerName(cluster, id)))} ${workers.count === 1 ? 'has' : 'have'} room that is kept for a task ` +
    `which has waited longer, and asks for ${needText(need)}`,
  'reserved-for-it': ({ worker }, { cluster }) =>
    `${workerName(cluster, worker)} gets nothing else until it, or one like it, fits there`,
  avoided: ({ worker, until }, { cluster, now }) =>
    `only ${workerName(cluster, worker)} has room, on which it failed: it is to show elsewhere whether that worker is at fault` +
    `${until === undefined ? '' : `, and waits ${forTime(until, now)} at most`}`,
  'higher-priority': ({ tasks, isCut, priority }) =>
    `about ${amountOf(tasks, 'task', isCut)} of a higher priority than ${priority} ${tasks === 1 ? 'goes' : 'go'} first`,
  behind: ({ tasks, isCut }) =>
    `about ${amountOf(tasks, 'task', isCut)} of its priority ${tasks === 1 ? 'goes' : 'go'} first`,
  next: ({ workers }) =>
    `${amountOf(workers, 'worker')} ${workers === 1 ? 'has' : 'have'} room: it is about to be sent`,
  sent: ({ worker, since, isOnItsWay }, { cluster, now }) =>
    `it was sent to ${workerName(cluster, worker)} ${showDuration(now - since)} ago, which ` +
    `${isOnItsWay ? 'has not answered yet' : 'is about to start it'}`,
  unsure: ({ worker }, { cluster }) =>
    `it was sent to ${workerName(cluster, worker)}, and nobody knows whether it arrived: the worker is asked` +
    `${isAway(cluster, worker) ? ' when it is connected again' : ''}`,
  'queued-at-worker': ({ worker, before }, { cluster }) =>
    `it is at ${workerName(cluster, worker)} and waits until there is room, ${before === 0 ? 'next in line' : `behind ${amountOf(before, 'other')}`}`,
  running: ({ worker, since }, { cluster, now }) =>
    `it has been running on ${workerName(cluster, worker)} for ${showDuration(Math.max(0, now - since))}`,
  cancelling: ({ worker, reason }, { cluster }) =>
    `it is being cancelled, ${cancelWords[reason]}: ${workerName(cluster, worker)} ends its process`,
  'worker-silent': ({ worker, obstacle, why, until }, { cluster, now }) => {
    const is = `${workerName(cluster, worker)} is ${obstacleText({ obstacle, why })}`;
    if (until === undefined) return is;
    // Who gets the lock of its host has the proof.
    const proof = isAway(cluster, worker) ? '; if it is dead, a worker that is started there shows that at once' : '';
    return `${is}; what it has is given up ${inTime(until, now)} unless that changes${proof}`;
  },
  done: ({ attempts }) => {
    if (attempts === 0) return 'it has ended well, and there was nothing to run';
    return attempts === 1 ? 'it has ended well' : `it has ended well, in attempt ${attempts}`;
  },
  failed: (reason, told) => failureText(reason, told),
  cancelled: ({ reason, by }, { cluster }) => {
    const names = listed(namesOf(by, (one) => dependencyName(cluster, one)));
    const because = names === '' ? '' : `: ${names}`;
    if (reason === 'unneeded') return `it was not needed: it was there for a failure that did not happen${because}`;
    return `it was cancelled ${cancelWords[reason]}${because}`;
  },
  aborted: ({ workflow }) =>
    `${printWorkflow(workflow)} was given up before all of it was there, and has to be submitted again`,
  open: () => 'it is open: more tasks may come',
  ended: ({ state }) => endings[state as keyof typeof endings] ?? `it is ${state}`,
};

function failureText({ reason, attempt, attempts }: ReasonOf<'failed'>, told: Told): string {
  const end = outcomeText(told, attempt);
  const last = attempts > 1 ? ` in the last of ${showCount(attempts)} attempts` : '';
  switch (reason) {
    case 'deadline':
      return 'it failed: it was not started before its latest start';
    case 'check':
      return 'it failed: a task before it did';
    case 'resources': {
      const short = told.task === undefined ? undefined : told.shortfalls.get(told.task);
      return `it failed${last}: ${[end, short].filter(Boolean).join('; ') || 'it ran out of a resource'}`;
    }
    case 'attempts':
    case 'lost':
    case 'not-startable':
      return `it failed${last}${end === '' ? '' : `: ${end}`}`;
  }
}

export const sentenceOf = (reason: Reason, told: Told): string =>
  (sentences[reason.kind] as (one: Reason, to: Told) => string)(reason, told);

export const attemptName = ({ tasks }: Told['cluster'], task: NonNullable<Told['task']>, number: number): string =>
  printAttempt(tasks.workflow(task), tasks.index(task), number);
