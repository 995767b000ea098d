/**
 * Statistics of everything that ended, kept up to date by what is committed: an answer adds up a few cells, however many tasks
 * there are. Not durable: after a restart they are made again of the attempts that the store has (observations.ts).
 *
 * Owns: the cells of workflows, the sum of those that were forgotten, and when tasks were queued that were not from the
 * first.
 * 1. Every ended attempt is counted once, either when it is committed or when it is read, by its id: those up to `readTo` are counted
 *    when they end, the others when they are read.
 * 2. At most `statisticsLimits` of each; what comes beyond it is `other`, or goes into the sum of forgotten workflows.
 */
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Change } from '../../core/change.ts';
import type { Cluster } from '../../core/cluster.ts';
import { Integers } from '../../core/columns.ts';
import type { AttemptId, TaskId, WorkflowId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';
import { type Need, plainNeed } from '../../model/need.ts';
import { outcomeKinds } from '../../model/states.ts';
import type { StepResult } from '../messages.ts';
import { type Buckets, type Ended, findBuckets } from './cell.ts';
import { type EndKind, Rates } from './rates.ts';
import { TagSets } from './tag-sets.ts';
import { type Allowance, noTemplate, type Place, WorkflowCells } from './workflow-cells.ts';

type OutcomeKind = (typeof outcomeKinds)[number];
const outcomeCodes = Object.fromEntries(outcomeKinds.map((kind, code) => [kind, code])) as Record<OutcomeKind, number>;

/** Ends that tell how long such a task runs. */
const ranToItsEnd: readonly OutcomeKind[] = ['succeeded', 'exited', 'signalled', 'resource'];
const tells = new Uint8Array(outcomeKinds.map((kind) => Number(ranToItsEnd.includes(kind))));

const templatePrefix = 'template:';

export class Statistics {
  readonly tags = new TagSets();
  /** Of all workflows. */
  readonly rates = new Rates();
  /** Of workflows that have no cells of their own any more. */
  readonly forgotten = new WorkflowCells({ left: statisticsLimits.forgottenCellsMax });
  /** Attempts up to this one are counted when they end. */
  readTo: number;
  readonly #cluster: Cluster;
  /** In the order in which something first ended of them. */
  readonly #workflows = new Map<WorkflowId, WorkflowCells>();
  readonly #forgottenIds = new Set<WorkflowId>();
  readonly #allowance: Allowance = { left: statisticsLimits.cellsMax };
  /** When a task was last queued, in ms after `#begunAt`, plus one; 0 where that was with its workflow. */
  readonly #queuedAt = new Integers();
  /** The same before the batch that is followed, of tasks that it queued again: the attempt that it ended was queued then. */
  readonly #queuedBefore = new Map<TaskId, number>();
  readonly #begunAt: number;
  /** Names of templates, by the number of a need. */
  readonly #templates: (string | undefined)[] = [];
  /** Attempts that were counted as lost and whose worker may still speak, and when they were queued: their tasks have been again since. */
  readonly #lost = new Map<AttemptId, number | undefined>();
  readonly #end: Ended = {
    ...{ outcome: 0, waitingMs: -1, runningMs: -1, totalMs: -1, wallMs: -1, cpuMs: -1, peakBytes: -1 },
    need: plainNeed,
  };
  readonly #buckets: Buckets = { waiting: 0, running: 0, total: 0, memory: 0 };

  constructor(cluster: Cluster, now: number) {
    this.#cluster = cluster;
    this.#begunAt = now;
    this.readTo = cluster.tasks.size === 0 ? Number.POSITIVE_INFINITY : 0;
  }

  get workflows(): ReadonlyMap<WorkflowId, WorkflowCells> {
    return this.#workflows;
  }

  /** Whether it is, or was, left to the sum of others: cells that it has since are not all of it. */
  isForgotten(workflow: WorkflowId): boolean {
    return this.#forgottenIds.has(workflow);
  }

  /** After the batch is durable, and before anybody looks: tags of new tasks, and tasks that were queued or ended. */
  follow({ at, changes, tagged }: Pick<StepResult, 'at' | 'changes' | 'tagged'>): void {
    for (const { workflow, id, spec } of tagged) {
      if (spec.tags !== undefined) this.tags.note(workflow, id, spec.tags);
    }
    this.#followTasks(changes, at);
  }

  /** An attempt ended with a batch that was followed. */
  onEnded(row: AttemptRow): void {
    if (row.id <= this.readTo) this.count(row);
  }

  /** An attempt that has ended. */
  count(row: AttemptRow): void {
    const { task, outcome } = row;
    if (outcome === undefined) return;
    const cells = this.#cellsOf(this.#cluster.tasks.workflow(task));
    const place = this.#placeOf(row);
    if (this.#lost.has(row.id)) cells.retract(outcomeCodes.lost, place);
    this.#measure(row, outcomeCodes[outcome.kind], cells);
    cells.add(this.#end, this.#buckets, place);
    if (outcome.kind === 'lost' && this.#cluster.attempts.has(row.id)) this.#rememberLost(row, cells);
    else this.#lost.delete(row.id);
  }

  /** Ends of tasks before this controller began. */
  countTaskEnd(workflow: WorkflowId, at: number, kind: EndKind): void {
    if (at >= this.#begunAt) return;
    this.rates.add(at, kind, 1);
    this.#cellsOf(workflow).rates.add(at, kind, 1);
  }

  templateOf(task: TaskId): string {
    const { tasks, needs } = this.#cluster;
    const number = tasks.need(task);
    const known = this.#templates[number];
    if (known !== undefined) return known;
    const group = needs.get(number).groups?.find((name) => name.startsWith(templatePrefix));
    const name = group === undefined ? noTemplate : group.slice(templatePrefix.length);
    this.#templates[number] = name;
    return name;
  }

  /** As `count` does it, for who counts into cells of his own. */
  measure(row: AttemptRow): { readonly end: Ended; readonly buckets: Buckets; readonly place: Place } {
    const cells = this.#workflows.get(this.#cluster.tasks.workflow(row.task));
    this.#measure(row, outcomeCodes[row.outcome?.kind ?? 'lost'], cells);
    return { end: this.#end, buckets: this.#buckets, place: this.#placeOf(row) };
  }

  #followTasks(changes: readonly Change[], at: number): void {
    const { tasks } = this.#cluster;
    let ends: Ends | undefined;
    this.#queuedBefore.clear();
    for (const change of changes) {
      if (change.type === 'tasks-activated') this.#cellsOf(change.workflow).activated(change.fromIndex, at);
      if (change.type !== 'task-changed' || change.event.type !== 'moved') continue;
      const { to } = change.event.move;
      if (to === 'queued') this.#noteQueued(change.task, at);
      if (to !== 'done' && to !== 'failed' && to !== 'cancelled') continue;
      if (tasks.kind(change.task) !== 'command') continue;
      const workflow = tasks.workflow(change.task);
      if (ends?.workflow !== workflow) {
        this.#addEnds(ends, at);
        ends = { workflow, done: 0, failed: 0, cancelled: 0 };
      }
      ends[to]++;
    }
    this.#addEnds(ends, at);
  }

  #noteQueued(task: TaskId, at: number): void {
    if (this.#cluster.tasks.attemptNumber(task) > 0 && !this.#queuedBefore.has(task)) {
      this.#queuedBefore.set(task, this.#queuedAt.get(task) || 0);
    }
    this.#queuedAt.set(task, Math.min(lastMs, Math.max(0, at - this.#begunAt)) + 1);
  }

  #addEnds(ends: Ends | undefined, at: number): void {
    if (ends === undefined) return;
    const { rates } = this.#cellsOf(ends.workflow);
    for (const kind of ['done', 'failed', 'cancelled'] as const) {
      if (ends[kind] === 0) continue;
      rates.add(at, kind, ends[kind]);
      this.rates.add(at, kind, ends[kind]);
    }
  }

  #placeOf({ task, worker }: AttemptRow): Place {
    return { template: this.templateOf(task), worker, tags: this.tags.of(task) };
  }

  #measure(row: AttemptRow, outcome: number, cells: WorkflowCells | undefined): void {
    const { task, startedAt, endedAt, usage } = row;
    const end = this.#end;
    const hasRun = tells[outcome] === 1;
    end.outcome = outcome;
    end.need = this.#needOf(task);
    end.wallMs = hasRun && usage !== undefined ? usage.wallMs : -1;
    end.cpuMs = end.wallMs >= 0 ? (usage?.cpuMs ?? 0) : -1;
    end.peakBytes = end.wallMs >= 0 ? (usage?.peakBytes ?? -1) : -1;
    end.runningMs = end.wallMs < 0 && hasRun && startedAt > 0 ? Math.max(0, endedAt - startedAt) : end.wallMs;
    const queuedAt = hasRun && startedAt > 0 ? this.#queued(row, cells) : undefined;
    end.waitingMs = queuedAt === undefined ? -1 : Math.max(0, startedAt - queuedAt);
    end.totalMs = queuedAt === undefined || end.runningMs < 0 ? -1 : end.waitingMs + end.runningMs;
    findBuckets(end, this.#buckets);
  }

  #needOf(task: TaskId): Need {
    const { tasks, needs } = this.#cluster;
    return needs.get(tasks.need(task));
  }

  /**
   * When the task of an attempt was queued for it. Of one from before a restart that is known only where it waited for
   * nothing but its workflow; and none has waited for longer than its workflow runs.
   */
  #queued(row: AttemptRow, cells: WorkflowCells | undefined): number | undefined {
    const { tasks, graph } = this.#cluster;
    const { task, previous, recordedAt } = row;
    if (this.#lost.has(row.id)) return this.#lost.get(row.id);
    const { startedAt } = this.#cluster.workflow(tasks.workflow(task));
    const last = this.#queuedAt.get(task) || 0;
    const isLater = this.#begunAt + last - 1 > recordedAt;
    const noted = isLater ? (this.#queuedBefore.get(task) ?? last) : last;
    if (noted > 0) {
      const at = Math.max(startedAt, this.#begunAt + noted - 1);
      return at <= recordedAt ? at : undefined;
    }
    if (previous !== 0 || graph.hasParents(task)) return undefined;
    // Most workflows have one activation: then there is no need to know which task it is.
    const index = (cells?.activations ?? 0) > 1 ? tasks.index(task) : Number.POSITIVE_INFINITY;
    const at = Math.max(startedAt, cells?.activatedAt(index) ?? 0);
    return at > 0 && at <= recordedAt ? at : undefined;
  }

  #cellsOf(workflow: WorkflowId): WorkflowCells {
    const known = this.#workflows.get(workflow);
    if (known !== undefined) return known;
    if (this.#workflows.size >= statisticsLimits.workflowsMax) this.#forgetOne();
    const cells = new WorkflowCells(this.#allowance);
    this.#workflows.set(workflow, cells);
    return cells;
  }

  /** Of those that have ended the first; if none has, the first of all. */
  #forgetOne(): void {
    let chosen: WorkflowId | undefined;
    for (const workflow of this.#workflows.keys()) {
      chosen ??= workflow;
      if (this.#cluster.active.has(workflow)) continue;
      chosen = workflow;
      break;
    }
    const cells = chosen === undefined ? undefined : this.#workflows.get(chosen);
    if (chosen === undefined || cells === undefined) return;
    this.forgotten.addAll(cells);
    this.#allowance.left += cells.size;
    this.#workflows.delete(chosen);
    this.#forgottenIds.add(chosen);
    this.tags.forget(chosen);
  }

  #rememberLost(row: AttemptRow, cells: WorkflowCells): void {
    this.#lost.set(row.id, this.#queued(row, cells));
    if (this.#lost.size <= this.#cluster.attempts.size) return;
    for (const id of this.#lost.keys()) if (!this.#cluster.attempts.has(id)) this.#lost.delete(id);
  }
}

type Ends = { readonly workflow: WorkflowId } & Record<EndKind, number>;

/** What fits into a column of 32 bits: 49 days. */
const lastMs = 2 ** 32 - 2;
