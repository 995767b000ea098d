/**
 * Finds what definers want to be told of, in the history as it grows.
 *
 * Owns: which workflows have to be looked at, and what they ask for, as far as it was read lately.
 * 1. The history is looked through from a durable cursor on: what happened while nobody looked is found after a restart.
 * 2. What is found is noted durably before anybody is told; noting it twice is noting it once.
 */
import type { NewNotice } from '../../controller/notices.ts';
import type { Committed, ControllerShell } from '../../controller/shell.ts';
import type { Change } from '../../core/change.ts';
import type { WorkflowId } from '../../model/ids.ts';
import { queryLimits, webhookLimits } from '../../model/limits.ts';
import { isEndedWorkflow, type WorkflowState } from '../../model/states.ts';
import { shareOf } from '../../protocol/notification.ts';
import type { Notification } from '../../protocol/spec.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import { breath } from '../query/breath.ts';
import { workflowView } from '../query/workflows.ts';

/** Something happened to a workflow that it may want to tell. */
interface Candidate {
  readonly run: number;
  /** How it ended, if it did. */
  readonly end: WorkflowState | undefined;
}

/** Workflows of which it is known what they ask for. */
const knownMax = 1_000;

export class NoticeWatch {
  readonly #shell: ControllerShell;
  readonly #onNoted: () => void;
  readonly #onError: (error: unknown) => void;
  readonly #known = new Map<WorkflowId, readonly Notification[]>();
  #candidates = new Map<WorkflowId, Candidate>();
  /** Of the last change that was looked at. */
  #seen: number;
  #stop: () => void = () => {};
  #work: Promise<void> | undefined;
  #hasFailed = false;

  constructor(shell: ControllerShell, onNoted: () => void, onError: (error: unknown) => void) {
    this.#shell = shell;
    this.#onNoted = onNoted;
    this.#onError = onError;
    this.#seen = shell.controller.notices.cursor;
  }

  /** Resolves when all that had happened before is noted. */
  async start(): Promise<void> {
    for (;;) {
      const entries = await this.#shell.store.history(this.#seen, queryLimits.changesAtOnce);
      await this.#shell.read(() => {
        for (const { change } of entries) this.#consider(change);
      });
      this.#seen = entries.at(-1)?.seq ?? this.#seen;
      if (entries.length === 0 && (await this.#shell.read(() => this.#follow()))) break;
      await breath();
    }
    await this.settled();
  }

  /** Where the history ends now; false if there is more of it to look through. */
  #follow(): boolean {
    if (this.#shell.controller.sessions.version > this.#seen) return false;
    this.#stop = this.#shell.follow((committed) => this.#take(committed));
    return true;
  }

  /** Resolves when all that has happened is noted. */
  async settled(): Promise<void> {
    this.#begin();
    while (this.#work !== undefined) await this.#work;
  }

  /** What was looked at need not be looked at again: by a store that is opened for each run, that would be most of its start. */
  async stop(): Promise<void> {
    await this.settled();
    this.#stop();
    if (this.#isBehind(0)) await this.#shell.request({ type: 'note', notices: [], cursor: this.#seen });
  }

  /** What could not be noted is looked for again: the cursor stays before it. */
  #isBehind(changes: number): boolean {
    return !this.#hasFailed && this.#seen - this.#shell.controller.notices.cursor > changes;
  }

  #take({ first, changes }: Committed): void {
    for (const change of changes) this.#consider(change);
    this.#seen = first + changes.length - 1;
    if (this.#candidates.size > 0 || this.#isBehind(webhookLimits.cursorChanges)) this.#begin();
  }

  #consider(change: Change): void {
    const { cluster } = this.#shell.controller;
    if (change.type === 'workflow-moved' && isEndedWorkflow(change.to)) {
      const { run } = cluster.workflow(change.workflow);
      this.#candidates.set(change.workflow, { run, end: change.to });
    } else if (change.type === 'task-changed' && change.event.type === 'moved' && change.event.move.to === 'failed') {
      const workflow = cluster.tasks.workflow(change.task);
      if (this.#candidates.get(workflow)?.end !== undefined) return;
      this.#candidates.set(workflow, { run: cluster.workflow(workflow).run, end: undefined });
    }
  }

  #begin(): void {
    this.#work ??= this.#note()
      .catch((error: unknown) => {
        this.#hasFailed = true;
        this.#onError(error);
      })
      .finally(() => {
        this.#work = undefined;
        if (this.#candidates.size > 0) this.#begin();
      });
  }

  async #note(): Promise<void> {
    const candidates = this.#candidates;
    const cursor = this.#hasFailed ? 0 : this.#seen;
    this.#candidates = new Map();
    const notices: NewNotice[] = [];
    for (const [workflow, candidate] of candidates) notices.push(...(await this.#noticesOf(workflow, candidate)));
    if (notices.length === 0 && !this.#isBehind(webhookLimits.cursorChanges)) return;
    await this.#shell.request({ type: 'note', notices, cursor });
    this.#onNoted();
  }

  async #noticesOf(workflow: WorkflowId, { run, end }: Candidate): Promise<NewNotice[]> {
    const rules = await this.#rulesOf(workflow);
    if (rules.length === 0) return [];
    const { notices } = this.#shell.controller;
    const view = await workflowView(this.#shell, workflow);
    const at = new Date(this.#shell.now()).toISOString();
    return rules.flatMap(({ on }, rule) => {
      if (!isDue(on, view, end) || notices.has(workflow, rule, run)) return [];
      const event = typeof on === 'string' ? on : 'failed';
      const body = JSON.stringify({ event, on, at, workflow: { ...view, state: end ?? view.state } });
      return [{ workflow, rule, run, body }];
    });
  }

  async #rulesOf(workflow: WorkflowId): Promise<readonly Notification[]> {
    const known = this.#known.get(workflow);
    if (known !== undefined) return known;
    const rules = (await this.#shell.store.workflowSpec(workflow))?.notify ?? [];
    this.#known.set(workflow, rules);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= knownMax) break;
      this.#known.delete(oldest);
    }
    return rules;
  }
}

function isDue(on: Notification['on'], { counts }: WorkflowView, end: WorkflowState | undefined): boolean {
  if (on === 'end') return end !== undefined;
  if (on === 'first-failure') return counts.failed > 0;
  const share = shareOf(on.failed);
  if (share === 0) return counts.failed >= Number(on.failed);
  return counts.failed > 0 && counts.failed * 100 >= share * counts.total;
}
