/**
 * The operator's log of what was decided: a line for each decision about a workflow, and for each task that failed or
 * whose attempt came to nothing. Who wants to know of a single good task asks for its history.
 */
import type { Change } from '../core/change.ts';
import type { Cluster } from '../core/cluster.ts';
import { printAttempt, printTask, printWorker, printWorkflow, type TaskId, type WorkflowId } from '../model/ids.ts';
import type { Outcome } from '../model/outcome.ts';
import { isEndedWorkflow, type WorkflowState } from '../model/states.ts';
import type { Effect } from './messages.ts';

type Line = Extract<Effect, { readonly type: 'log' }>;

/** Lines about tasks in one turn; the rest of them is counted, so that a million failures don't fill a disk. */
export const taskLinesMax = 20;

export function journal(changes: readonly Change[], cluster: Cluster): Line[] {
  const lines: Line[] = [];
  let left = taskLinesMax;
  for (const change of changes) {
    const line = aboutWorkflow(change, cluster);
    if (line !== undefined) lines.push(line);
    if (!concernsTask(change)) continue;
    if (left-- > 0) lines.push(aboutTask(change, cluster));
  }
  if (left < 0) lines.push(info('more tasks failed, or lost an attempt, in the same turn', { more: -left }));
  return lines;
}

const info = (message: string, facts: object): Line => ({ type: 'log', level: 'info', message, facts });
const warn = (message: string, facts: object): Line => ({ type: 'log', level: 'warn', message, facts });

function aboutWorkflow(change: Change, cluster: Cluster): Line | undefined {
  switch (change.type) {
    case 'workflow-registered':
      return info('a workflow is being registered', { workflow: printWorkflow(change.workflow) });
    case 'workflow-moved':
      return moved(change.workflow, change.to, cluster);
    case 'workflow-stopping':
      return info('the rest of a workflow is being cancelled', {
        ...{ workflow: printWorkflow(change.workflow), for: change.stop },
      });
    case 'workflow-halt-mode':
      return info('a workflow is being halted', { workflow: printWorkflow(change.workflow), mode: change.mode });
    case 'workflow-concurrency':
      return info('a workflow has other limits', { workflow: printWorkflow(change.workflow), ...change.concurrency });
    case 'limit-set':
      return info('a limit was set', { name: change.name, max: change.max ?? 'none' });
    default:
      return undefined;
  }
}

/** On its way through the states before `running` nothing is decided. */
const passing: readonly WorkflowState[] = ['instantiating', 'launched', 'halting'];

function moved(workflow: WorkflowId, to: WorkflowState, cluster: Cluster): Line | undefined {
  if (passing.includes(to)) return undefined;
  const record = cluster.workflow(workflow);
  const facts = { workflow: printWorkflow(workflow), run: record.run, tasks: record.size };
  if (!isEndedWorkflow(to)) return info(`a workflow is ${to}`, facts);
  const [done, failed, cancelled] = [record.count('done'), record.count('failed'), record.count('cancelled')];
  return info(`a workflow is ${to}`, { ...facts, done, failed, cancelled });
}

type AboutTask =
  | (Extract<Change, { type: 'task-changed' }> & { readonly event: { readonly type: 'moved' } })
  | Extract<Change, { type: 'attempt-ended' }>;

function concernsTask(change: Change): change is AboutTask {
  if (change.type === 'attempt-ended') return isInVain(change.outcome);
  return change.type === 'task-changed' && change.event.type === 'moved' && change.event.move.to === 'failed';
}

/** Not the command's own end: the operator's concern, not its author's. */
const isInVain = ({ kind }: Outcome): boolean => kind === 'lost' || kind === 'never-started';

function aboutTask(change: AboutTask, cluster: Cluster): Line {
  if (change.type === 'attempt-ended') {
    const { task, number, worker } = cluster.attempts.get(change.attempt) ?? {};
    const attempt = task === undefined || number === undefined ? '' : printAttempt(...place(task, cluster), number);
    const facts = {
      attempt,
      outcome: change.outcome,
      ...(worker === undefined ? {} : { worker: printWorker(worker) }),
    };
    return warn('an attempt came to nothing', facts);
  }
  const { move } = change.event;
  const reason = 'reason' in move ? move.reason : undefined;
  return info('a task failed for good', { task: printTask(...place(change.task, cluster)), reason });
}

const place = (task: TaskId, { tasks }: Cluster): [WorkflowId, number] => [tasks.workflow(task), tasks.index(task)];
