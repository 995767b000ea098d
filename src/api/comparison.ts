/**
 * A list of tasks that was edited and is submitted again, as a workflow `like` an earlier one: what is done there and
 * has not changed is skipped.
 *
 * Owns: for each new workflow that is being compared, an index of the earlier one's tasks by the key of their content.
 * It follows from the definitions of both, and is made anew when it is not there: nothing else has to be durable.
 * 1. The n-th task of a content stands for the n-th of the same content in the earlier workflow: each of several lines
 *    that are alike is one of its own.
 * 2. Batches of one workflow are compared one after the other, else two of them would stand for the same task.
 * 3. What was added counts as compared only when it is durable, and once, however often it was asked for.
 */
import type { Reply, Request } from '../controller/messages.ts';
import type { ControllerShell } from '../controller/shell.ts';
import { DroverError } from '../model/errors.ts';
import { parseReference, printTask, printWorkflow, taskId, type WorkflowId } from '../model/ids.ts';
import { comparisonsMax } from '../model/limits.ts';
import { isEndedWorkflow } from '../model/states.ts';
import type { TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import type { Comparison } from '../protocol/views/submissions.ts';
import { KeyIndex } from './key-index.ts';

interface Compared {
  readonly tasks: TaskSpec[];
  /** Of each of them; a barrier has none. */
  readonly keys: readonly (string | undefined)[];
  readonly comparison: Comparison;
}

/** What the tasks of a new workflow are compared with. */
interface Measure {
  readonly like: WorkflowId;
  readonly index: KeyIndex;
  /** The index of the last task that was compared. */
  comparedTo: number;
}

/** 16 bytes in hex. */
const keyDigits = 32;
/** Tasks that are looked at in one go: others are served between two of them. */
const tasksAtOnce = 2_000;

export class Comparer {
  readonly #shell: ControllerShell;
  readonly #digest: (text: string) => string;
  readonly #measures = new Map<WorkflowId, Measure>();
  readonly #busy = new Map<WorkflowId, Promise<unknown>>();

  constructor(shell: ControllerShell, digest: (text: string) => string) {
    this.#shell = shell;
    this.#digest = digest;
  }

  /** What is to be asked of the controller. A name that no workflow has is like none: all of it is new. */
  async submission(spec: WorkflowSpec, batch: TaskBatch | undefined): Promise<Request> {
    const { like: wanted, ...rest } = spec;
    const like = wanted === undefined ? undefined : await this.#earlier(wanted);
    if (like === undefined) {
      return batch === undefined ? { type: 'register', spec: rest } : { type: 'submit', spec: rest, batch };
    }
    const found = { ...rest, like: printWorkflow(like) };
    if (batch === undefined) return { type: 'register', spec: found };
    const measure = { like, index: await this.#indexOf(like), comparedTo: 0 };
    const { tasks, comparison } = await this.#compare(measure, spec, batch.tasks);
    return { type: 'submit', spec: found, batch: { ...batch, tasks }, comparison };
  }

  /** Adds tasks to a new workflow, those that are to be skipped as such. */
  async extend(workflow: WorkflowId, batch: TaskBatch, ask: (request: Request) => Promise<Reply>): Promise<Reply> {
    const spec = await this.#shell.store.workflowSpec(workflow);
    const like = parseReference(spec?.like ?? '')?.workflow;
    if (spec === undefined || like === undefined) return ask({ type: 'extend', workflow, batch });
    return this.#inTurn(workflow, async () => {
      const measure = await this.#measureOf(workflow, like, spec);
      const { tasks, keys, comparison } = await this.#compare(measure, spec, batch.tasks);
      const reply = await ask({ type: 'extend', workflow, batch: { ...batch, tasks }, comparison });
      if (reply.type === 'extended' && reply.firstIndex === measure.comparedTo + 1) count(measure, keys);
      return reply;
    });
  }

  /** No more tasks will come. */
  forget(workflow: WorkflowId): void {
    this.#measures.delete(workflow);
  }

  /** The workflow that an id or a name means: the newest one of that name, if there is any. */
  async #earlier(like: string): Promise<WorkflowId | undefined> {
    const workflow = await this.#find(like);
    if (workflow === undefined) return undefined;
    const state = await this.#shell.read((cluster) => cluster.workflow(workflow).state);
    if (isEndedWorkflow(state)) return workflow;
    throw new DroverError('run-is-live', `${printWorkflow(workflow)} is ${state}: what it still runs would run twice`);
  }

  async #find(like: string): Promise<WorkflowId | undefined> {
    const reference = parseReference(like);
    if (reference === undefined) {
      const named = await this.#shell.store.workflowsNamed(like);
      return this.#shell.read((cluster) => named.find((id) => cluster.workflow(id).state !== 'aborted'));
    }
    if (reference.index !== undefined) throw new DroverError('bad-reference', `'${like}' is not a workflow`);
    return this.#shell.read((cluster) => cluster.workflow(reference.workflow).id);
  }

  async #compare({ like, index }: Measure, spec: WorkflowSpec, tasks: readonly TaskSpec[]): Promise<Compared> {
    const keys = tasks.map((task) => this.#keyOf(spec, task));
    const seen = new Map<string, number>();
    const places = keys.map((key) => {
      if (key === undefined) return undefined;
      const nth = seen.get(key) ?? 0;
      seen.set(key, nth + 1);
      return index.at(key, nth);
    });
    const isDone = await this.#shell.read((cluster) => {
      const workflow = cluster.workflow(like);
      return places.map((place) => {
        const task = place === undefined ? undefined : workflow.task(place);
        return task !== undefined && cluster.tasks.state(task) === 'done';
      });
    });
    const comparison = { unchanged: 0, again: 0, fresh: 0 };
    const compared = tasks.map((task, at) => {
      if (keys[at] === undefined || task.skipped !== undefined) return task;
      const place = places[at];
      comparison[place === undefined ? 'fresh' : isDone[at] ? 'unchanged' : 'again'] += 1;
      return place === undefined || !isDone[at] ? task : { ...task, skipped: `done as ${printTask(like, place)}` };
    });
    return { tasks: compared, keys, comparison };
  }

  async #measureOf(workflow: WorkflowId, like: WorkflowId, spec: WorkflowSpec): Promise<Measure> {
    const size = await this.#shell.read((cluster) => cluster.workflow(workflow).size);
    const known = this.#measures.get(workflow);
    if (known?.comparedTo === size) return known;
    const measure = { like, index: await this.#indexOf(like), comparedTo: 0 };
    // Tasks that another controller has compared, or that came while this one had forgotten the workflow.
    for (let from = 1; from <= size; from += tasksAtOnce) {
      count(measure, await this.#keysOf(workflow, spec, from, Math.min(size, from + tasksAtOnce - 1)));
    }
    const [oldest] = this.#measures.keys();
    if (oldest !== undefined && this.#measures.size >= comparisonsMax) this.#measures.delete(oldest);
    this.#measures.set(workflow, measure);
    return measure;
  }

  async #indexOf(workflow: WorkflowId): Promise<KeyIndex> {
    const size = await this.#shell.read((cluster) => cluster.workflow(workflow).size);
    const spec = await this.#shell.store.workflowSpec(workflow);
    const index = new KeyIndex(size);
    for (let to = size; to >= 1 && spec !== undefined; to -= tasksAtOnce) {
      const from = Math.max(1, to - tasksAtOnce + 1);
      const keys = await this.#keysOf(workflow, spec, from, to);
      for (let place = to; place >= from; place--) {
        const key = keys[place - from];
        if (key !== undefined) index.addBefore(key, place);
      }
    }
    return index;
  }

  /** Of the tasks of two indices and all between them. */
  async #keysOf(workflow: WorkflowId, spec: WorkflowSpec, from: number, to: number): Promise<(string | undefined)[]> {
    await new Promise((resolve) => setImmediate(resolve));
    const ranges = await this.#shell.read((cluster) => cluster.workflow(workflow).ranges(from, to));
    const ids = ranges.flatMap((range) => Array.from({ length: range.to - range.from + 1 }, (_, n) => range.from + n));
    const definitions = await this.#shell.store.definitions(ids.map(taskId));
    return definitions.map(({ spec: task }) => this.#keyOf(spec, task));
  }

  /**
   * What makes the content of a task. Not its environment: it differs from shell to shell by what matters to no task.
   * Nor how often it is tried, and for how long.
   */
  #keyOf({ cwd, shell, stdin }: WorkflowSpec, { command, name, arrayIndex }: TaskSpec): string | undefined {
    if (command === undefined) return undefined;
    const content = [command, name ?? null, arrayIndex ?? null, cwd, shell, stdin ?? null];
    return this.#digest(JSON.stringify(content)).slice(0, keyDigits);
  }

  async #inTurn<Result>(workflow: WorkflowId, act: () => Promise<Result>): Promise<Result> {
    const before = this.#busy.get(workflow) ?? Promise.resolve();
    const mine = before.then(act, act);
    this.#busy.set(workflow, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(workflow) === mine) this.#busy.delete(workflow);
    }
  }
}

/** Those that stand for a task of the earlier workflow do so from now on. */
function count(measure: Measure, keys: readonly (string | undefined)[]): void {
  for (const key of keys) if (key !== undefined) measure.index.dropFirst(key);
  measure.comparedTo += keys.length;
}
