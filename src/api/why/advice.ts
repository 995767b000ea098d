/** What somebody can do about a reason, as command lines. */

import type { Lack } from '../../core/resources/queues.ts';
import type { Reason, ReasonOf, Unavailable } from '../../core/why/reason.ts';
import { typeable } from '../../definition/shell/quoting.ts';
import { failsAtOnce } from '../../model/failure-cause.ts';
import { printWorker, printWorkflow } from '../../model/ids.ts';
import { priorityMax } from '../../model/limits.ts';
import { defaultQueue, type Need } from '../../model/need.ts';
import { showAtLeastBytes } from '../../model/units.ts';

/** `subject` is the task, or the workflow, that has the reason. */
export function adviceFor(reason: Reason, subject: string): string[] {
  switch (reason.kind) {
    case 'held':
      return [`drover release ${subject}`];
    case 'workflow-halted':
      return [`drover resume ${printWorkflow(reason.workflow)}`];
    case 'limit':
      return [`drover limit ${typeable(reason.name)} ${Math.max(reason.used + reason.asked, reason.max)}`];
    case 'workflow-limit':
      return [`drover concurrency ${printWorkflow(reason.workflow)} none`];
    case 'group-limit':
      return [concurrencyFor(reason)];
    case 'no-worker':
      return [['drover worker', ...toldOnly(reason.need)].join(' ')];
    case 'no-queue':
      return [`drover worker --queue ${typeable(reason.queue)}`];
    case 'too-large':
      return largerWorkers(reason);
    case 'workers-unavailable':
      return [...new Set(reason.workers.first.flatMap(administrationFor)), 'drover workers'];
    case 'higher-priority':
      return [`drover priority ${Math.min(priorityMax, reason.highest + 1)} ${subject}`];
    case 'worker-silent':
      return ['drover workers'];
    case 'running':
      return [`drover logs ${subject} -f`];
    case 'failed':
      return [
        ...(reason.attempt === undefined ? [] : [`drover logs ${subject} --stderr`]),
        // That time does not come again, and what a check found is to be tried before it.
        ...(failsAtOnce(reason.reason) ? [] : [`drover retry ${subject}`]),
      ];
    case 'cancelled':
      return reason.reason === 'user' || reason.reason === 'fail-fast' ? [`drover retry ${subject}`] : [];
    case 'ended':
      return reason.state === 'failed' ? [`drover failures ${subject}`, `drover resume ${subject}`] : [];
    case 'open':
      return [`drover close ${subject}`];
    default:
      return [];
  }
}

function concurrencyFor({ workflow, group }: ReasonOf<'group-limit'>): string {
  const [kind = '', ...name] = group.split(':');
  return `drover concurrency ${printWorkflow(workflow)} --${kind} ${typeable(`${name.join(':')}=none`)}`;
}

/** Who was taken out of use can be put back. */
const administrationFor = ({ worker, obstacle }: Unavailable): string[] =>
  obstacle === 'drained' || obstacle === 'quarantined' ? [`drover worker release ${printWorker(worker)}`] : [];

/** Slots are given to a worker that is there; all else takes a machine that has it. */
function largerWorkers({ need, nearest, lacks }: ReasonOf<'too-large'>): string[] {
  const isSlots = ({ of }: Lack): boolean => of === ' cpus';
  const slots = lacks.every(isSlots) ? [`drover worker slots ${printWorker(nearest)} ${Math.ceil(need.cpus)}`] : [];
  return [...slots, `drover worker ${optionsFor(need).join(' ')}`];
}

/** As to time, a worker that is not told when to end takes any task. */
function optionsFor(need: Need): string[] {
  const { cpus, memoryBytes, gpus } = need;
  return [
    `-j ${Math.ceil(cpus)}`,
    ...(memoryBytes === undefined ? [] : [`--memory ${showAtLeastBytes(memoryBytes).replace(' ', '')}`]),
    ...(gpus === undefined ? [] : [`--gpus ${gpus}`]),
    ...toldOnly(need),
  ];
}

/** What a worker has only if it is told so; all else it finds out. */
const toldOnly = ({ queue, pools = {} }: Need): string[] => [
  ...(queue === defaultQueue ? [] : [`--queue ${typeable(queue)}`]),
  ...Object.entries(pools).map(([name, amount]) => `--pool ${typeable(`${name}=${amount}`)}`),
];
