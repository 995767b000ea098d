/** Why a task or workflow waits: a look at memory, and at the ends of the attempts that the answer speaks of. */
import type { ControllerShell } from '../../controller/shell.ts';
import { whyTask } from '../../core/why/analyst.ts';
import type { Reason, TaskWhy } from '../../core/why/reason.ts';
import { whyWorkflow } from '../../core/why/workflow.ts';
import { type AttemptId, printWorkflow, type TaskId, type WorkflowId } from '../../model/ids.ts';
import { reasonTitles } from '../../model/reasons.ts';
import type { ReasonGroupView, TaskWhyView, WorkflowWhyView } from '../../protocol/views/why.ts';
import { optional } from '../render.ts';
import { shortfallsOf } from '../task-resources.ts';
import { renderReason, renderTaskWhy, type Telling } from './render.ts';

export async function taskWhy(shell: ControllerShell, task: TaskId): Promise<TaskWhyView> {
  const { why, now } = await shell.read((cluster, at) => ({
    ...{ why: whyTask(cluster, task, shell.controller.outlook(at)), now: at },
  }));
  const known = await knownOf(shell, [why]);
  return shell.read((cluster) => renderTaskWhy(why, { cluster, now, ...known }));
}

export async function workflowWhy(shell: ControllerShell, workflow: WorkflowId): Promise<WorkflowWhyView> {
  const { why, now } = await shell.read((cluster, at) => ({
    ...{ why: whyWorkflow(cluster, workflow, shell.controller.outlook(at)), now: at },
  }));
  const { state, unended, sampled, groups, more } = why;
  const known = await knownOf(
    shell,
    groups.map(({ example }) => example),
  );
  return shell.read((cluster) => {
    const telling: Telling = { cluster, now, ...known };
    const subject = printWorkflow(workflow);
    const told = { ...telling, subject, workflow: 'it', task: undefined };
    return {
      ...{ workflow: subject, state, reasons: why.reasons.map((reason) => renderReason(reason, told)) },
      ...{ unended, sampled },
      groups: groups.map(({ count, example }) => renderGroup(count, example, telling)),
      ...optional('more', more),
    };
  });
}

function renderGroup(count: number, example: TaskWhy, telling: Telling): ReasonGroupView {
  const kind = example.reasons[0]?.kind ?? 'settling';
  return { count, title: reasonTitles[kind], example: renderTaskWhy(example, telling) };
}

/** What only the store knows: how attempts ended, and what was missing. */
async function knownOf(
  shell: ControllerShell,
  whys: readonly TaskWhy[],
): Promise<Pick<Telling, 'outcomes' | 'shortfalls'>> {
  const ended = whys.flatMap(({ task, reasons, root }) => [
    ...endedOf(task, reasons),
    ...(root === undefined ? [] : endedOf(root.task, root.reasons)),
  ]);
  const found = await shell.store.attempts(ended.map(({ attempt }) => attempt));
  const rows = new Map(found.flatMap((row) => (row === undefined ? [] : [[row.id, row] as const])));
  const short = ended.filter(({ isShort }) => isShort).map(({ task, attempt }) => ({ task, last: rows.get(attempt) }));
  const shortfalls = await shortfallsOf(shell, short);
  return {
    outcomes: new Map(
      [...rows].flatMap(([id, { outcome }]) => (outcome === undefined ? [] : [[id, outcome] as const])),
    ),
    shortfalls: new Map([...shortfalls].map(([task, { why }]) => [task, why])),
  };
}

interface Ended {
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly isShort: boolean;
}

const endedOf = (task: TaskId, reasons: readonly Reason[]): Ended[] =>
  reasons.flatMap((reason) => {
    if (reason.kind !== 'back-off' && reason.kind !== 'failed') return [];
    const isShort = reason.kind === 'failed' && reason.reason === 'resources';
    return reason.attempt === undefined ? [] : [{ task, attempt: reason.attempt, isShort }];
  });
