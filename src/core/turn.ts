/**
 * One turn of deciding: commands go through the tables, and what they accept is applied and kept for the commit.
 * A turn changes the cluster only by `emit`.
 */
import { DroverError } from '../model/errors.ts';
import { type AttemptId, printTask, printWorkflow, type TaskId, type WorkflowId } from '../model/ids.ts';
import type { Role } from '../model/states.ts';
import { attemptView } from './attempt/record.ts';
import { attemptTable } from './attempt/table.ts';
import type { Change } from './change.ts';
import type { Cluster } from './cluster.ts';
import { allowedCommands, type Decision, decideBy } from './machine.ts';
import { taskTable } from './task/table.ts';
import type { TaskCommand, TaskEvent } from './task/view.ts';
import { type WorkflowCommand, type WorkflowEvent, workflowTable } from './workflow/table.ts';

const attemptStateAfter = { send: 'sent', accept: 'accepted', doubt: 'unsure' } as const;

export class Turn {
  readonly cluster: Cluster;
  readonly now: number;
  readonly changes: Change[] = [];

  constructor(cluster: Cluster, now: number) {
    this.cluster = cluster;
    this.now = now;
  }

  emit(change: Change): void {
    this.cluster.apply(change, this.now);
    this.changes.push(change);
  }

  task(task: TaskId, command: TaskCommand, role: Role): Decision<TaskEvent> {
    const decision = decideBy(taskTable, this.cluster.taskView(task), command, role);
    if (decision.kind === 'accept') {
      for (const event of decision.events) this.emit({ type: 'task-changed', task, event });
    }
    return decision;
  }

  workflow(workflow: WorkflowId, command: WorkflowCommand, role: Role): Decision<WorkflowEvent> {
    const decision = decideBy(workflowTable, this.cluster.workflow(workflow).view(), command, role);
    if (decision.kind === 'accept') {
      for (const event of decision.events) this.emit(workflowChange(workflow, event));
    }
    return decision;
  }

  /** What is known of an attempt on its way; returns whether the table allows it. */
  attempt(id: AttemptId, command: { readonly type: 'send' | 'accept' | 'doubt' }, role: Role): boolean {
    const record = this.cluster.attempts.get(id);
    if (record === undefined) return false;
    const isAllowed = decideBy(attemptTable, attemptView(record), command, role).kind === 'accept';
    if (isAllowed) this.cluster.noteAttempt(id, attemptStateAfter[command.type]);
    return isAllowed;
  }

  /** For commands of people and programs: a rejection becomes an error that says what is allowed instead. */
  mustTask(task: TaskId, command: TaskCommand, role: Role): Decision<TaskEvent> {
    const { tasks } = this.cluster;
    const name = printTask(tasks.workflow(task), tasks.index(task));
    const state = tasks.state(task);
    const decision = this.task(task, command, role);
    if (decision.kind === 'reject')
      throw refusal(name, state, command.type, decision, allowedCommands(taskTable, state, role));
    return decision;
  }

  mustWorkflow(workflow: WorkflowId, command: WorkflowCommand, role: Role): Decision<WorkflowEvent> {
    const { state } = this.cluster.workflow(workflow);
    const decision = this.workflow(workflow, command, role);
    if (decision.kind === 'reject') {
      throw refusal(
        printWorkflow(workflow),
        state,
        command.type,
        decision,
        allowedCommands(workflowTable, state, role),
      );
    }
    return decision;
  }
}

function refusal(
  name: string,
  state: string,
  command: string,
  { code, why }: Extract<Decision<never>, { kind: 'reject' }>,
  allowed: string[],
): DroverError {
  return new DroverError(code, `${name} is ${state}: can't ${command} it, ${why}`, { details: { state, allowed } });
}

function workflowChange(workflow: WorkflowId, event: WorkflowEvent): Change {
  switch (event.type) {
    case 'moved':
      return event.run === undefined
        ? { type: 'workflow-moved', workflow, to: event.to }
        : { type: 'workflow-moved', workflow, to: event.to, run: event.run };
    case 'closed':
      return { type: 'workflow-closed', workflow };
    case 'stopping':
      return { type: 'workflow-stopping', workflow, stop: event.stop };
    case 'halt-mode':
      return { type: 'workflow-halt-mode', workflow, mode: event.mode };
  }
}
