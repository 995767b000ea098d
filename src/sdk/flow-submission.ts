/**
 * Submits a compiled workflow: as a whole or not at all, and as the one that is there if it is the same.
 * Nothing runs unless all of it was taken: tasks start with `close`, and a failure before it aborts.
 */
import { type Flow, identified } from '../definition/compile.ts';
import { DroverError } from '../model/errors.ts';
import { differenceTasksMax } from '../model/limits.ts';
import type { WorkflowState } from '../model/states.ts';
import type { Comparison, Submitted } from '../protocol/views/submissions.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from './client.ts';
import { IntakeNotes } from './intake-notes.ts';
import type { DefinitionRequest } from './requests.ts';

export interface FlowOptions {
  /** A new one is made, whatever there is. */
  readonly replaces?: boolean;
  /** What it was compiled of, for an answer that tells differences. */
  readonly source: DefinitionRequest;
  readonly onProgress?: (tasks: number) => void;
  readonly signal?: AbortSignal;
}

export interface FlowSubmission {
  readonly view: WorkflowView;
  readonly outcome: Submitted['outcome'];
  /** With an earlier workflow, where the new one is like it. */
  readonly comparison?: Comparison;
  /** Of tasks that nobody could run now, and of limits: one for each thing that is wrong. */
  readonly warnings: readonly string[];
}

const resumable: readonly WorkflowState[] = ['halting', 'halted', 'failed'];

export async function submitFlow(client: Client, compiled: Flow, options: FlowOptions): Promise<FlowSubmission> {
  const flow = identified(compiled);
  try {
    return await register(client, flow, options);
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    const known = String(error.details?.workflow ?? '');
    if (error.code === 'already-submitted') return goOn(client, known);
    if (error.code !== 'graph-differs') throw error;
    const difference = flow.size > differenceTasksMax ? undefined : await differenceFrom(client, known, options.source);
    throw new DroverError(error.code, error.message, { hint: error.hint, details: { ...error.details, difference } });
  }
}

/** Undefined where the definition is too large for a request. */
async function differenceFrom(client: Client, known: string, source: DefinitionRequest) {
  try {
    return await client.difference(known, source);
  } catch (error) {
    if (error instanceof DroverError && error.code === 'too-large') return undefined;
    throw error;
  }
}

async function register(client: Client, flow: Flow, options: FlowOptions): Promise<FlowSubmission> {
  const { spec } = flow;
  const batches = flow.batches();
  const first = batches.next();
  const rest = first.done ? first : batches.next();
  if (rest.done && !spec.open) {
    const batch = first.done ? { tasks: [], edges: [] } : first.value;
    const { comparison, warnings = [], known, ...view } = await client.submitWhole(spec, batch, options.replaces);
    if (known) return goOn(client, view.id);
    return { view, outcome: 'new', warnings, ...(comparison === undefined ? {} : { comparison }) };
  }
  const { id, known } = await client.register(spec, options.replaces);
  return known ? goOn(client, id) : fill(client, id, flow, options);
}

async function fill(client: Client, id: string, flow: Flow, options: FlowOptions): Promise<FlowSubmission> {
  try {
    const noted = await addFlow(client, id, flow, options);
    const view = flow.spec.open ? await client.workflow(id) : await client.close(id);
    return { view, outcome: 'new', ...noted };
  } catch (error) {
    // What went wrong before is what the caller must hear of; what the abort leaves the controller makes up for.
    if (!flow.spec.open) await client.abort(id).catch(() => undefined);
    throw error;
  }
}

/** Adds all tasks of a flow to a workflow that is being registered, or is open. */
export async function addFlow(
  client: Client,
  workflow: string,
  flow: Flow,
  { onProgress, signal }: Pick<FlowOptions, 'onProgress' | 'signal'> = {},
): Promise<IntakeNotes['result']> {
  const notes = new IntakeNotes();
  let added = 0;
  for (const batch of flow.batches()) {
    signal?.throwIfAborted();
    notes.take(await client.extend(workflow, batch));
    added += batch.tasks.length;
    onProgress?.(added);
  }
  signal?.throwIfAborted();
  return notes.result;
}

/** What is there is gone on with: hot, so that what a worker still runs is taken over. */
async function goOn(client: Client, id: string): Promise<FlowSubmission> {
  const view = await client.workflow(id);
  if (view.state === 'done' || view.state === 'cancelled') return { view, outcome: 'done', warnings: [] };
  if (!resumable.includes(view.state)) return { view, outcome: 'attached', warnings: [] };
  return { view: await client.resume(id, 'hot'), outcome: 'resumed', warnings: [] };
}
