/** Definitions that are compiled here: registered as a whole or not at all, and known when they come again. */
import type { Reply, Request } from '../controller/messages.ts';
import type { ControllerShell } from '../controller/shell.ts';
import {
  type CompileOptions,
  compile,
  type Flow,
  identifiedInSteps,
  type Surroundings,
} from '../definition/compile.ts';
import { differenceOf, Outliner, opArgsOf, outlineOf } from '../definition/difference.ts';
import type { Digest } from '../definition/identity.ts';
import { assert, DroverError } from '../model/errors.ts';
import { parseReference, taskId, type WorkflowId } from '../model/ids.ts';
import { definitionRequestTasksMax, differenceTasksMax } from '../model/limits.ts';
import type { WorkflowState } from '../model/states.ts';
import type { TaskBatch } from '../protocol/spec.ts';
import type { Difference, Submitted } from '../protocol/views/submissions.ts';
import type { Comparer } from './comparison.ts';
import { outsideOf } from './outside.ts';
import { workflowView } from './query/workflows.ts';

export interface DefinitionRequest {
  readonly definition: unknown;
  readonly args?: Readonly<Record<string, string>>;
  readonly replaces?: boolean;
  readonly surroundings?: Partial<Surroundings>;
}

/** Where a request says nothing: of the machines where tasks run, only so much is certain. */
const plainSurroundings = { shell: '/bin/sh', env: { PATH: '/usr/local/bin:/usr/bin:/bin' } };
const resumable: readonly WorkflowState[] = ['halting', 'halted', 'failed'];
const breathe = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Definitions {
  readonly #shell: ControllerShell;
  readonly #comparer: Comparer;
  readonly #digest: Digest;

  constructor(shell: ControllerShell, comparer: Comparer, digest: Digest) {
    this.#shell = shell;
    this.#comparer = comparer;
    this.#digest = digest;
  }

  async submit(request: DefinitionRequest): Promise<Submitted> {
    const flow = await identifiedInSteps(this.#compiled(request), breathe);
    try {
      const { workflow, isKnown } = await this.#register(flow, request.replaces === true);
      const outcome = isKnown ? await this.#goOn(workflow) : 'new';
      return { ...(await workflowView(this.#shell, workflow)), outcome };
    } catch (error) {
      throw await this.explained(error, flow);
    }
  }

  /** What a definition and a workflow differ in; undefined where there is too much of either. */
  async difference(workflow: WorkflowId, request: DefinitionRequest): Promise<Difference | undefined> {
    return this.#difference(workflow, this.#compiled(request));
  }

  /** A refusal for another graph, with what is different. */
  async explained(error: unknown, flow: Flow): Promise<unknown> {
    if (!(error instanceof DroverError) || error.code !== 'graph-differs') return error;
    const known = parseReference(String(error.details?.workflow))?.workflow;
    const difference = known === undefined ? undefined : await this.#difference(known, flow);
    if (difference === undefined) return error;
    return new DroverError(error.code, error.message, {
      hint: error.hint,
      details: { ...error.details, difference },
    });
  }

  #compiled({ definition, args, surroundings = {} }: DefinitionRequest): Flow {
    const options: CompileOptions = {
      surroundings: { cwd: '/', ...plainSurroundings, ...surroundings },
      digest: this.#digest,
      ...(args === undefined ? {} : { args }),
      tasksMax: definitionRequestTasksMax,
    };
    const flow = compile(definition, options);
    if (surroundings.cwd !== undefined || hasDirectory(definition)) return flow;
    throw new DroverError('bad-definition', "the definition lacks 'cwd': where its tasks run", {
      details: { issues: [{ path: 'cwd', message: 'is missing' }], total: 1 },
    });
  }

  async #register(flow: Flow, replaces: boolean): Promise<{ workflow: WorkflowId; isKnown: boolean }> {
    const batches = flow.batches();
    const first = batches.next();
    const second = first.done ? first : batches.next();
    const isWhole = second.done === true && !flow.spec.open;
    const batch = first.done ? { tasks: [], edges: [] } : first.value;
    const asked = await this.#comparer.submission(flow.spec, isWhole ? batch : undefined);
    const outside = isWhole ? { outside: await outsideOf(this.#shell, batch) } : {};
    const reply = await this.#shell.request({ ...asked, ...outside, replaces } as Request);
    assert(reply.type === 'registered', 'what is registered is answered so');
    const { workflow, isKnown = false } = reply;
    if (!isWhole && !isKnown) await this.#fill(workflow, flow);
    return { workflow, isKnown };
  }

  async #fill(workflow: WorkflowId, flow: Flow): Promise<void> {
    try {
      for (const batch of flow.batches()) await this.#extend(workflow, batch);
      if (!flow.spec.open) await this.#shell.request({ type: 'close', workflow });
    } catch (error) {
      if (!flow.spec.open) await this.#shell.request({ type: 'abort', workflow }).catch(() => undefined);
      throw error;
    } finally {
      this.#comparer.forget(workflow);
    }
  }

  async #extend(workflow: WorkflowId, batch: TaskBatch): Promise<Reply> {
    const outside = await outsideOf(this.#shell, batch);
    return this.#comparer.extend(workflow, batch, (asked) => this.#shell.request({ ...asked, outside } as Request));
  }

  async #goOn(workflow: WorkflowId): Promise<Submitted['outcome']> {
    const state = await this.#shell.read((cluster) => cluster.workflow(workflow).state);
    if (state === 'done' || state === 'cancelled') return 'done';
    if (!resumable.includes(state)) return 'attached';
    await this.#shell.request({ type: 'resume', workflow, how: 'hot' });
    return 'resumed';
  }

  async #difference(workflow: WorkflowId, flow: Flow): Promise<Difference | undefined> {
    const size = await this.#shell.read((cluster) => cluster.workflow(workflow).size);
    if (size > differenceTasksMax || flow.size > differenceTasksMax) return undefined;
    const outliner = new Outliner(opArgsOf(flow));
    const ranges = await this.#shell.read((cluster) => cluster.workflow(workflow).ranges(1, size));
    for (const { from, to } of ranges) {
      for (let first: number = from; first <= to; first += tasksAtOnce) {
        await this.#outline(outliner, workflow, first, Math.min(to, first + tasksAtOnce - 1));
        await breathe();
      }
    }
    return differenceOf(outliner.outline, outlineOf(flow));
  }

  async #outline(outliner: Outliner, workflow: WorkflowId, from: number, to: number): Promise<void> {
    const ids = Array.from({ length: to - from + 1 }, (_, offset) => taskId(from + offset));
    const definitions = await this.#shell.store.definitions(ids);
    const parents = await this.#shell.read(({ graph, tasks }) =>
      ids.map((id) =>
        [...graph.parents(id)].flatMap(({ parent }) =>
          tasks.workflow(parent) === workflow ? [tasks.index(parent)] : [],
        ),
      ),
    );
    definitions.forEach(({ spec }, at) => {
      outliner.add(spec, parents[at] ?? []);
    });
  }
}

const tasksAtOnce = 1_000;

const hasDirectory = (definition: unknown): boolean =>
  typeof definition === 'object' && definition !== null && 'cwd' in definition;
