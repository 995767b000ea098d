/** Failed tasks of a workflow, grouped by how they failed. */

import type { ControllerShell } from '../controller/shell.ts';
import type { AttemptRow } from '../core/attempt/record.ts';
import { type AttemptId, printTask, type TaskId, type WorkflowId } from '../model/ids.ts';
import { outputTailBytesMax } from '../model/limits.ts';
import { describeShortage } from '../model/outcome.ts';
import type { FailReason } from '../model/states.ts';
import type { FailureGroup, Shortfall } from '../protocol/views.ts';
import { storedOutput } from './output.ts';
import { shortfallsOf } from './task-resources.ts';

const signalNames: Readonly<Record<number, string>> = {
  1: 'HUP',
  2: 'INT',
  3: 'QUIT',
  4: 'ILL',
  6: 'ABRT',
  7: 'BUS',
  8: 'FPE',
  9: 'KILL',
  11: 'SEGV',
  13: 'PIPE',
  14: 'ALRM',
  15: 'TERM',
};

const examplesMax = 5;
const lastLinesMax = 3;
const rowsAtOnce = 1_000;

interface Failed {
  readonly task: TaskId;
  readonly reason: FailReason;
  readonly attempt: AttemptId | undefined;
}

function causeOfFailure(reason: FailReason, last: AttemptRow | undefined, short: Shortfall | undefined): string {
  if (short !== undefined) return `not enough ${short.resource}: ${short.why}`;
  if (reason === 'deadline') return 'not started before its deadline';
  if (reason === 'check') return 'a task before the barrier failed';
  const outcome = last?.outcome;
  switch (outcome?.kind) {
    case 'exited':
      return `exit ${outcome.code}`;
    case 'signalled':
      return `signal ${outcome.signal}${signalNames[outcome.signal] ? ` (${signalNames[outcome.signal]})` : ''}`;
    case 'resource':
      return describeShortage(outcome.resource, outcome.by);
    case 'lost':
      return outcome.what === 'worker' ? 'worker lost' : 'spawner lost';
    case 'never-started':
      return `not startable: ${outcome.message}`;
    default:
      return reason;
  }
}

export async function failuresOf(shell: ControllerShell, workflow: WorkflowId): Promise<FailureGroup[]> {
  const failed = await shell.read((cluster) => {
    const found: Failed[] = [];
    for (const task of cluster.workflow(workflow).tasks()) {
      if (cluster.tasks.state(task) !== 'failed') continue;
      const view = cluster.taskView(task);
      if (view.state === 'failed') found.push({ task, reason: view.reason, attempt: view.lastAttempt });
    }
    return found;
  });
  const groups = new Map<string, { count: number; examples: Failed[] }>();
  for (let from = 0; from < failed.length; from += rowsAtOnce) {
    const slice = failed.slice(from, from + rowsAtOnce);
    const rows = await shell.store.attempts(slice.map(({ attempt }) => attempt ?? (0 as AttemptId)));
    const short = slice.flatMap(({ task, reason }, at) => (reason === 'resources' ? [{ task, last: rows[at] }] : []));
    const shortfalls = await shortfallsOf(shell, short);
    slice.forEach((one, index) => {
      const cause = causeOfFailure(one.reason, rows[index], shortfalls.get(one.task));
      const group = groups.get(cause) ?? { count: 0, examples: [] };
      groups.set(cause, group);
      group.count++;
      if (group.examples.length < examplesMax) group.examples.push(one);
    });
  }
  const sorted = [...groups].sort(([, a], [, b]) => b.count - a.count);
  return Promise.all(sorted.map(([cause, { count, examples }]) => renderGroup(shell, cause, count, examples)));
}

async function renderGroup(
  shell: ControllerShell,
  cause: string,
  count: number,
  examples: Failed[],
): Promise<FailureGroup> {
  const definitions = await shell.store.definitions(examples.map(({ task }) => task));
  const [first] = examples;
  const lastLines = first?.attempt === undefined ? undefined : await lastLinesOf(shell, first.attempt);
  return {
    cause,
    count,
    examples: definitions.map(({ workflow, index, spec }) => ({
      id: printTask(workflow, index),
      ...(spec.command === undefined ? {} : { command: spec.command.slice(0, 500) }),
    })),
    ...(lastLines === undefined || lastLines === '' ? {} : { lastLines }),
  };
}

async function lastLinesOf(shell: ControllerShell, attempt: AttemptId): Promise<string> {
  for (const stream of ['stderr', 'stdout'] as const) {
    const output = await storedOutput(shell, attempt, stream);
    const tail = await output.read(Math.max(0, output.bytes - outputTailBytesMax), outputTailBytesMax);
    const lines = Buffer.from(tail).toString().trimEnd().split('\n');
    const last = lines.slice(-lastLinesMax).join('\n').trim();
    if (last !== '') return last.slice(-2_000);
  }
  return '';
}
