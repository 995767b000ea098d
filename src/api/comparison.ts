/**
 * A list of tasks that was edited and is submitted again, as a workflow `like` an earlier one: what is done there and
 * has not changed is skipped.
 *
 * Owns: who compares with which new workflow right now. What tasks have in common is in the store, by the key of their
 * content, so that memory does not grow with them, and a restart forgets nothing.
 * 1. The n-th task of a content stands for the n-th of the same content in the earlier workflow: each of several lines
 *    that are alike is one of its own.
 * 2. Batches of one workflow are compared one after the other, else two of them would stand for the same task.
 */
import type { Likeness, Request } from '../controller/messages.ts';
import type { ControllerShell } from '../controller/shell.ts';
import { DroverError } from '../model/errors.ts';
import { parseReference, printTask, printWorkflow, type TaskId, type WorkflowId } from '../model/ids.ts';
import { submitTasksMax } from '../model/limits.ts';
import { isEndedWorkflow } from '../model/states.ts';
import type { TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
import { allKeyed, type TaskKeyRow } from '../store/task-key-row.ts';

interface Compared extends Likeness {
  readonly tasks: TaskSpec[];
}

/** 16 bytes in hex. */
const keyCharacters = 32;

export class Comparer {
  readonly #shell: ControllerShell;
  readonly #digest: (text: string) => string;
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
    const { tasks, ...likeness } = await this.#compare(like, undefined, spec, batch.tasks);
    return { type: 'submit', spec: found, batch: { ...batch, tasks }, likeness };
  }

  async extension(workflow: WorkflowId, batch: TaskBatch): Promise<Request> {
    const spec = await this.#shell.store.workflowSpec(workflow);
    const like = parseReference(spec?.like ?? '')?.workflow;
    if (spec === undefined || like === undefined) return { type: 'extend', workflow, batch };
    const { tasks, ...likeness } = await this.#compare(like, workflow, spec, batch.tasks);
    return { type: 'extend', workflow, batch: { ...batch, tasks }, likeness };
  }

  /** The workflow that an id or a name means: the newest one of that name, if there is any. Its tasks have keys then. */
  async #earlier(like: string): Promise<WorkflowId | undefined> {
    const workflow = await this.#find(like);
    if (workflow === undefined) return undefined;
    const state = await this.#shell.read((cluster) => cluster.workflow(workflow).state);
    if (!isEndedWorkflow(state)) {
      throw new DroverError(
        'run-is-live',
        `${printWorkflow(workflow)} is ${state}: what it still runs would run twice`,
      );
    }
    if (!(await this.#shell.store.isKeyed(workflow))) await this.#giveKeys(workflow);
    return workflow;
  }

  /** `workflow`: the new one, as far as there is one yet. */
  async #compare(
    like: WorkflowId,
    workflow: WorkflowId | undefined,
    spec: WorkflowSpec,
    tasks: readonly TaskSpec[],
  ): Promise<Compared> {
    const keys = tasks.map((task) => this.#keyOf(spec, task));
    const known = [...new Set(keys.filter((key) => key !== undefined))];
    const earlier = await this.#places(like, known);
    const before = workflow === undefined ? [] : await this.#shell.store.tasksByKey(workflow, known);
    const counts = new Map(known.map((key, at) => [key, before[at]?.length ?? 0]));
    const comparison = { unchanged: 0, again: 0, fresh: 0 };
    const compared = tasks.map((task, at) => {
      const key = keys[at];
      if (key === undefined) return task;
      const nth = counts.get(key) ?? 0;
      counts.set(key, nth + 1);
      const place = earlier.get(key)?.[nth];
      if (task.skipped !== undefined) return task;
      comparison[place === undefined ? 'fresh' : place.isDone ? 'unchanged' : 'again'] += 1;
      return place?.isDone ? { ...task, skipped: `done as ${place.name}` } : task;
    });
    return { tasks: compared, keys, comparison };
  }

  /** Invariant 2. */
  async inTurn<Result>(workflow: WorkflowId, act: () => Promise<Result>): Promise<Result> {
    const before = this.#busy.get(workflow);
    const mine = (before ?? Promise.resolve()).then(act, act);
    this.#busy.set(workflow, mine);
    try {
      return await mine;
    } finally {
      if (this.#busy.get(workflow) === mine) this.#busy.delete(workflow);
    }
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

  /** The tasks of each key, in their order. */
  async #places(like: WorkflowId, keys: readonly string[]) {
    const found = await this.#shell.store.tasksByKey(like, keys);
    return this.#shell.read(({ tasks }) => {
      const placeOf = (task: TaskId) => ({
        name: printTask(like, tasks.index(task)),
        isDone: tasks.state(task) === 'done',
      });
      return new Map(keys.map((key, at) => [key, (found[at] ?? []).map(placeOf)]));
    });
  }

  /** For a workflow that was submitted without: many tasks take several turns, and others come between. */
  async #giveKeys(workflow: WorkflowId): Promise<void> {
    const { store } = this.#shell;
    const spec = await store.workflowSpec(workflow);
    const tasks = await this.#shell.read((cluster) => [...cluster.workflow(workflow).tasks()]);
    for (let from = 0; from < tasks.length && spec !== undefined; from += submitTasksMax) {
      const definitions = await store.definitions(tasks.slice(from, from + submitTasksMax));
      const keys = definitions.flatMap(({ id, spec: task }): TaskKeyRow[] => {
        const key = this.#keyOf(spec, task);
        return key === undefined ? [] : [{ workflow, key, task: id }];
      });
      await this.#shell.request({ type: 'note-keys', keys });
    }
    await this.#shell.request({ type: 'note-keys', keys: [allKeyed(workflow)] });
  }

  /**
   * What makes the content of a task. Not its environment: it differs from shell to shell by what matters to no task.
   * Nor how often it is tried, and for how long.
   */
  #keyOf({ cwd, shell, stdin }: WorkflowSpec, { command, name, arrayIndex }: TaskSpec): string | undefined {
    if (command === undefined) return undefined;
    const content = [command, name ?? null, arrayIndex ?? null, cwd, shell, stdin ?? null];
    return this.#digest(JSON.stringify(content)).slice(0, keyCharacters);
  }
}
