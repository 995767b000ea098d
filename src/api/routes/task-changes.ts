/** `PATCH tasks/:id`: the changes of state that the seed knows, by workers and by users. */

import { notYours } from '../../controller/http-workers.ts';
import type { Request } from '../../controller/messages.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { EndReport } from '../../core/task/ending.ts';
import { DroverError } from '../../model/errors.ts';
import { printTask, printWorker, type TaskId, type WorkerId } from '../../model/ids.ts';
import type { Outcome } from '../../model/outcome.ts';
import { type AskedState, type ExecutionReport, TaskPatch } from '../../protocol/http-worker.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import { accessTo, mustBeAllowed } from '../access.ts';
import { type App, Reference } from '../app.ts';
import { renderClaims, type SpecCache } from '../claims.ts';
import type { Identity } from '../gate.ts';
import { speakerOf, taskOf } from '../reference.ts';
import { optional, renderTask } from '../render.ts';
import { timeOf } from '../times.ts';
import { attemptsOf } from './tasks.ts';

interface Change {
  readonly shell: ControllerShell;
  readonly identity: Identity;
  readonly specs: SpecCache;
  readonly task: TaskId;
  readonly report: ExecutionReport;
}

export function registerTaskChangeRoutes(app: App, shell: ControllerShell, specs: SpecCache): void {
  app.patch(
    '/api/v1/tasks/:id',
    {
      schema: {
        summary: 'Change the state of a task: claim it, end it, cancel it',
        params: Reference,
        body: TaskPatch,
      },
    },
    async ({ params, body, identity }) => {
      if (body.continuations !== undefined) {
        throw new DroverError('bad-input', "'continuations' is read-only", {
          hint: 'POST to add_continuations or remove_continuations of the task',
        });
      }
      const task = await shell.read((cluster) => taskOf(cluster, params.id));
      return change({ shell, identity, specs, task, report: body.execution_info ?? {} }, body.state);
    },
  );
}

function change(means: Change, state: AskedState | undefined): Promise<object> {
  const { task, report } = means;
  switch (state) {
    case 'running':
      return claim(means);
    case 'terminated':
      return end(means, endOf(report));
    case 'cancelled':
      return report.worker === undefined
        ? steer(means, { type: 'cancel-task', task })
        : end(means, cancelledOf(report));
    case 'available':
    case 'queued':
      return steer(means, { type: 'make-available', task });
    case 'inactive':
    case 'waiting':
    case 'pending_cancellation':
    case 'cancelling':
      return refuse(means, state);
    case undefined:
      return start(means);
  }
}

/** What users ask for. */
async function steer({ shell, identity, task }: Change, request: Request): Promise<object> {
  mustBeAllowed(identity.role, accessTo('POST', '/api/v1/tasks/:id/cancel'), `PATCH with that state`);
  await shell.request(request);
  return viewOf(shell, task);
}

async function claim({ shell, identity, specs, task, report }: Change): Promise<object> {
  const worker = await speaker(shell, identity, report);
  const reply = await shell.request({ type: 'claim-task', worker, task });
  if (reply.type !== 'claimed') throw new Error(`a claim was answered with ${reply.type}`);
  const [view] = await renderClaims(shell, specs, worker, reply.claims, reply);
  return { state: 'running', ...view };
}

async function start({ shell, identity, task, report }: Change): Promise<object> {
  const startedAt = timeOf(report.time_started);
  if (startedAt === undefined) {
    throw new DroverError('bad-input', 'nothing is to be changed', { hint: 'give a state, or a time_started' });
  }
  await reportStart(shell, identity, task, report, startedAt);
  return viewOf(shell, task);
}

export async function reportStart(
  shell: ControllerShell,
  identity: Identity,
  task: TaskId,
  report: ExecutionReport,
  startedAt: number,
): Promise<void> {
  const worker = await speaker(shell, identity, report);
  const reply = await shell.request({ type: 'start-claimed', worker, task, number: report.attempt, startedAt });
  if (reply.type === 'not-live') await mustBeOwn(shell, task, worker, report.attempt);
}

async function end({ shell, identity, task, report }: Change, ended: EndedAttempt): Promise<object> {
  const worker = await speaker(shell, identity, report);
  const reply = await shell.request({ type: 'end-claimed', worker, task, number: report.attempt, end: ended });
  if (reply.type === 'not-live') await mustBeOwn(shell, task, worker, report.attempt);
  return viewOf(shell, task);
}

/** An end that is repeated is answered as the first was; one that came too late is told so. */
async function mustBeOwn(
  shell: ControllerShell,
  task: TaskId,
  worker: WorkerId,
  number: number | undefined,
): Promise<void> {
  const rows = await attemptsOf(shell, task);
  const row =
    number === undefined ? rows.findLast((one) => one.worker === worker) : rows.find((one) => one.number === number);
  const name = await shell.read(({ tasks }) => printTask(tasks.workflow(task), tasks.index(task)));
  if (row === undefined && number !== undefined) {
    throw new DroverError('attempt-unknown', `${name} has no attempt ${number}`);
  }
  if (row?.worker !== worker) throw notYours(name, worker);
  if (row.outcome?.kind !== 'lost') return;
  throw new DroverError(
    'attempt-superseded',
    `${name}#${row.number} was given up: the lease of ${printWorker(worker)} had ended`,
  );
}

function speaker(shell: ControllerShell, identity: Identity, { worker }: ExecutionReport): Promise<WorkerId> {
  if (worker === undefined) {
    throw new DroverError('bad-input', 'execution_info/worker is missing', {
      hint: 'give the id that the worker got when it registered',
    });
  }
  return shell.read((cluster) => speakerOf(cluster, identity, worker).id);
}

type EndedAttempt = Omit<EndReport, 'attempt' | 'worker'>;

function endOf(report: ExecutionReport): EndedAttempt {
  return { outcome: outcomeOf(report), ...circumstancesOf(report) };
}

function outcomeOf({ exit_status: code, signal, resource, not_started: why }: ExecutionReport): Outcome {
  if (why !== undefined) return { kind: 'never-started', why: 'unable', message: why };
  if (resource !== undefined) return { kind: 'resource', resource };
  if (signal !== undefined) return { kind: 'signalled', signal };
  if (code === 0) return { kind: 'succeeded' };
  if (typeof code === 'number') return { kind: 'exited', code };
  throw new DroverError('bad-input', 'how it ended is missing', {
    hint: 'give execution_info/exit_status, signal, resource or not_started',
  });
}

/** With the exit, or the signal, unless KILL was needed. */
function cancelledOf(report: ExecutionReport): EndedAttempt {
  const { exit_status: code, signal } = report;
  const exit = typeof code === 'number' ? { code } : signal === undefined ? {} : { signal };
  return { outcome: { kind: 'cancelled', ...exit }, signalledFor: 'cancel', ...circumstancesOf(report) };
}

function circumstancesOf({ time_started, time_terminated, cpu_ms: cpuMs, peak_bytes: peakBytes }: ExecutionReport) {
  const [startedAt, endedAt] = [timeOf(time_started), timeOf(time_terminated)];
  const wallMs = Math.max(0, (endedAt ?? 0) - (startedAt ?? endedAt ?? 0));
  const usage = cpuMs === undefined ? undefined : { wallMs, cpuMs, ...(peakBytes === undefined ? {} : { peakBytes }) };
  return { startedAt, endedAt, usage };
}

/** States that a task comes to by what happens, never by request. */
async function refuse({ shell, task }: Change, asked: AskedState): Promise<never> {
  const { name, state } = await shell.read(({ tasks }) => ({
    name: printTask(tasks.workflow(task), tasks.index(task)),
    state: tasks.state(task),
  }));
  const isBack = asked === 'inactive' || asked === 'waiting';
  throw new DroverError('transition-not-allowed', `${name} is ${state}: it can't be made ${asked} by request`, {
    hint: isBack ? 'hold it instead: POST to hold of the task' : "ask for 'cancelled'",
    details: { state, allowed: ['running', 'terminated', 'cancelled', 'available'] },
  });
}

async function viewOf(shell: ControllerShell, task: TaskId): Promise<TaskView> {
  const [definition] = await shell.store.definitions([task]);
  if (definition === undefined) throw new DroverError('task-unknown', 'there is no such task');
  const { last, view } = await shell.read((cluster) => ({
    last: cluster.tasks.lastAttempt(task),
    view: renderTask(cluster, task, definition, undefined),
  }));
  const [row] = last === undefined ? [] : await shell.store.attempts([last]);
  return { ...view, ...optional('outcome', row?.outcome) };
}
