/**
 * All workflows, and which of them go on.
 *
 * Owns: their records, as far as these do not count tasks. Does not own: their tasks.
 * 1. `active` has those that have not ended, and no others.
 * 2. `registering` has those that their definer has not closed yet, the one that was not heard for the longest time first.
 * 3. One that changed gets attention from settling, and its ready tasks their place in the lanes.
 */
import { DroverError } from '../model/errors.ts';
import { printWorkflow, type WorkflowId } from '../model/ids.ts';
import { isEndedWorkflow } from '../model/states.ts';
import type { ChangeOf } from './change.ts';
import type { Dirty } from './dirty-rows.ts';
import type { Limits } from './resources/limits.ts';
import type { Candidates } from './scheduler/candidates.ts';
import type { WorkLists } from './work-lists.ts';
import { WorkflowRecord, type WorkflowRow } from './workflow/record.ts';

/** Of one that is there. */
type ChangeOfKnown = ChangeOf<
  'workflow-moved' | 'workflow-closed' | 'workflow-stopping' | 'workflow-halt-mode' | 'workflow-concurrency'
>;

/** What of a cluster has to know when a workflow changes. */
interface Followers {
  readonly limits: Limits;
  readonly candidates: Candidates;
  readonly work: WorkLists;
}

export class KnownWorkflows {
  readonly byId = new Map<WorkflowId, WorkflowRecord>();
  readonly active = new Set<WorkflowId>();
  readonly registering = new Set<WorkflowId>();
  readonly #cluster: Followers;
  readonly #dirty: Dirty;

  constructor(cluster: Followers, dirty: Dirty) {
    this.#cluster = cluster;
    this.#dirty = dirty;
  }

  get(id: WorkflowId): WorkflowRecord {
    const record = this.byId.get(id);
    if (record === undefined) throw new DroverError('workflow-unknown', `there is no workflow ${printWorkflow(id)}`);
    return record;
  }

  load(row: WorkflowRow, at: number): void {
    this.byId.set(row.id, WorkflowRecord.load(row));
    if (!isEndedWorkflow(row.state)) this.active.add(row.id);
    if (row.state === 'registering') this.touch(row.id, at);
  }

  /** Its definer was heard. */
  touch(id: WorkflowId, at: number): void {
    const workflow = this.get(id);
    workflow.touchedAt = at;
    if (workflow.state !== 'registering' || workflow.open) return;
    this.registering.delete(id);
    this.registering.add(id);
  }

  apply(change: ChangeOf<'workflow-registered'> | ChangeOfKnown, at: number): void {
    if (change.type === 'workflow-registered') this.#register(change, at);
    else this.#change(change, at);
    this.#dirty.workflows.add(change.workflow);
  }

  #register({ workflow: id, rules }: ChangeOf<'workflow-registered'>, at: number): void {
    this.byId.set(id, new WorkflowRecord(id, rules, at));
    this.active.add(id);
    this.touch(id, at);
  }

  #change(change: ChangeOfKnown, at: number): void {
    const workflow = this.get(change.workflow);
    this.#set(workflow, change, at);
    workflow.version++;
    this.#cluster.candidates.noteSource(workflow);
    this.#cluster.work.attention.add(workflow.id);
  }

  #set(workflow: WorkflowRecord, change: ChangeOfKnown, at: number): void {
    switch (change.type) {
      case 'workflow-moved':
        return this.#move(workflow, change, at);
      case 'workflow-closed':
        workflow.open = false;
        return;
      case 'workflow-stopping':
        workflow.stop = change.stop;
        workflow.sweptTo = 0;
        return;
      case 'workflow-halt-mode':
        workflow.haltMode = change.mode;
        return;
      case 'workflow-concurrency':
        workflow.concurrency = change.concurrency;
        this.#cluster.limits.changed(workflow);
        return this.#cluster.candidates.noteWoken();
    }
  }

  #move(workflow: WorkflowRecord, { to, run }: ChangeOf<'workflow-moved'>, at: number): void {
    workflow.state = to;
    if (run !== undefined) {
      Object.assign(workflow, { run: workflow.run + 1, startedAt: at, endedAt: 0, sweptTo: 0 });
      workflow.attemptsBefore = workflow.attemptsEnded;
      // A first run has none but one that came before it began, and holds.
      if (run !== 'fresh') Object.assign(workflow, { stop: undefined, haltMode: undefined });
      if (run === 'retry') workflow.sweptTo = workflow.size;
    }
    // One that is reset after its end had ended before, and is being cancelled no more.
    if (isEndedWorkflow(to) && workflow.endedAt === 0) workflow.endedAt = at;
    if (to === 'halted') workflow.stop = undefined;
    if (isEndedWorkflow(to)) this.active.delete(workflow.id);
    else this.active.add(workflow.id);
    if (to !== 'registering') this.registering.delete(workflow.id);
  }
}
