/**
 * Workflows as values of a program. It builds the same document that YAML files have, and nothing else: what a workflow
 * means is said by the compiler alone.
 */
import { type CompileOptions, compile, type Flow, type Surroundings } from '../definition/compile.ts';
import type { Digest } from '../definition/identity.ts';
import type { Definition, Scalar } from '../definition/schema.ts';
import { DroverError } from '../model/errors.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from './client.ts';
import { addFlow, type FlowSubmission, submitFlow } from './flow-submission.ts';
import { type Settings, settingsOf, type TaskNode } from './task-nodes.ts';

export interface WorkflowOptions extends Omit<Definition, 'name' | 'templates' | 'tasks' | 'defaults' | 'args'> {
  readonly args?: Readonly<Record<string, Scalar>>;
  readonly defaults?: Settings;
}

/** What a program that submits knows, and the SDK does not. */
export interface Setting {
  readonly digest: Digest;
  surroundings(): Surroundings;
  connect(): Client;
}

export interface SubmitFlowOptions {
  /** The controller of the nearest access file when absent. */
  readonly client?: Client;
  /** Arguments of the workflow, before its own. */
  readonly args?: Readonly<Record<string, string>>;
  /** A new one, even if the same was submitted before. */
  readonly fresh?: boolean;
  /** An earlier workflow: what is done there and has not changed is skipped. */
  readonly update?: string;
  readonly surroundings?: Partial<Surroundings>;
}

interface Standing {
  readonly client: Client;
  readonly id: string;
  nodes: number;
}

export class Workflow {
  readonly #setting: Setting;
  readonly #name: string;
  readonly #options: WorkflowOptions;
  readonly #nodes: TaskNode[] = [];
  /** Once it is submitted: where, and how many of its nodes are there. */
  #submitted: Standing | undefined;

  constructor(setting: Setting, name: string, options: WorkflowOptions) {
    this.#setting = setting;
    this.#name = name;
    this.#options = options;
  }

  /** What they run after comes along by itself. */
  add(...nodes: readonly TaskNode[]): this {
    for (const node of nodes) {
      if (this.#nodes.includes(node)) continue;
      this.add(...node.parents);
      this.#nodes.push(node);
    }
    return this;
  }

  /** The document, as it would be in a file. */
  definition(nodes: readonly TaskNode[] = this.#nodes): Definition {
    const { defaults, ...rest } = this.#options;
    const templates = new Map(
      nodes.flatMap(({ template }) => (template === undefined ? [] : [[template.name, template] as const])),
    );
    const written = Object.fromEntries([...templates].map(([name, { words }]) => [name, words]));
    return {
      name: this.#name,
      ...rest,
      ...(defaults === undefined ? {} : { defaults: settingsOf(defaults) }),
      ...(templates.size === 0 ? {} : { templates: written }),
      tasks: nodes.map(({ words }) => words),
    };
  }

  compile(options: Partial<CompileOptions> = {}): Flow {
    const { digest } = this.#setting;
    return compile(this.definition(), {
      surroundings: this.#setting.surroundings(),
      digest,
      name: this.#name,
      ...options,
    });
  }

  /** Registers it, or finds it there: then it is gone on with. An open one that was submitted gets what was added since. */
  async submit(options: SubmitFlowOptions = {}): Promise<FlowSubmission> {
    if (this.#submitted !== undefined && this.#options.open) return this.#grow(this.#submitted);
    const client = options.client ?? this.#setting.connect();
    const like = options.update === undefined ? {} : { like: options.update };
    const surroundings = { ...this.#setting.surroundings(), ...options.surroundings, ...like };
    const args = options.args === undefined ? {} : { args: options.args };
    const flow = this.compile({ surroundings, ...args });
    const replaces = options.fresh === true || options.update !== undefined;
    const source = { definition: this.definition(), surroundings, ...args };
    const submission = await submitFlow(client, flow, { source, replaces });
    this.#submitted = { client, id: submission.view.id, nodes: this.#nodes.length };
    return submission;
  }

  /** Submits it, and waits for its end. */
  async run(options: SubmitFlowOptions = {}): Promise<WorkflowView> {
    const { view } = await this.submit(options);
    const client = this.#submitted?.client ?? this.#setting.connect();
    return ended(client, view);
  }

  /** Of an open one: no more tasks will come. */
  close(): Promise<WorkflowView> {
    if (this.#submitted !== undefined) return this.#submitted.client.close(this.#submitted.id);
    throw new DroverError('bad-input', 'it was not submitted', { hint: 'submit it first' });
  }

  async #grow(submitted: Standing): Promise<FlowSubmission> {
    const { client, id } = submitted;
    const fresh = this.#nodes.slice(submitted.nodes);
    const { digest } = this.#setting;
    const surroundings = this.#setting.surroundings();
    const addedTo = { workflow: id, size: await sizeOf(client, id) };
    const flow = compile(this.definition(fresh), { surroundings, digest, addedTo, name: this.#name });
    const noted = await addFlow(client, id, flow);
    submitted.nodes = this.#nodes.length;
    return { view: await client.workflow(id), outcome: 'attached', ...noted };
  }
}

/** All of its tasks, joins included. */
export async function sizeOf(client: Client, workflow: string): Promise<number> {
  const { tasks } = await client.tasksOf(workflow, { limit: 1, sort: '-id' });
  return tasks[0]?.index ?? 0;
}

const endedStates: readonly WorkflowView['state'][] = ['halted', 'done', 'failed', 'cancelled', 'aborted'];
const waitMs = 10_000;

async function ended(client: Client, first: WorkflowView): Promise<WorkflowView> {
  let view = first;
  while (!endedStates.includes(view.state)) view = await client.workflow(view.id, { after: view.version, waitMs });
  return view;
}
