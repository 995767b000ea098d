/**
 * Which workflow a name and arguments mean: the one by which a submission is known again.
 *
 * Owns: the newest workflow of each key, an index of what is in the rules of workflows; made anew at a start.
 * 1. A workflow is in it from when it is closed: of one whose definer may yet die nobody takes hold.
 * 2. One that was aborted, or cancelled as a whole, is never found.
 * 3. Of two that are registered at the same time, the one that is closed first stays, unless the other replaces it.
 */
import type { Identity } from '../core/change.ts';
import type { Cluster } from '../core/cluster.ts';
import type { WorkflowRecord } from '../core/workflow/record.ts';
import { DroverError } from '../model/errors.ts';
import { printWorkflow, type WorkflowId } from '../model/ids.ts';
import { workflowArgumentBytesMax } from '../model/limits.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';

/** Of a specification whose tasks and edges are known as a whole. */
export function identityOf({ name, args = {}, graph }: WorkflowSpec, replaces: boolean): Identity | undefined {
  if (name === undefined || graph === undefined) return undefined;
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = JSON.stringify([name, ...sorted]);
  // Names of arguments, quotes and brackets may come on top.
  if (key.length > 2 * workflowArgumentBytesMax) {
    throw new DroverError('too-large', `the arguments of a workflow have more than ${workflowArgumentBytesMax} bytes`);
  }
  return { key, graph, ...(replaces ? { replaces } : {}) };
}

export class Identities {
  readonly #cluster: Cluster;
  readonly #newest = new Map<string, WorkflowId>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    for (const [id, { state }] of cluster.workflows) if (state !== 'registering') this.note(id);
  }

  /** The workflow that this is, if it is there; refused if it is there with other tasks or edges. */
  find(spec: WorkflowSpec): WorkflowId | undefined {
    const identity = identityOf(spec, false);
    const known = identity && this.#standing(identity.key);
    if (identity === undefined || known === undefined) return undefined;
    if (known.rules.identity?.graph === identity.graph) return known.id;
    throw graphDiffers(known, spec.name ?? '');
  }

  /** Refuses to close a workflow whose place was taken while it was registered. */
  mayClose(id: WorkflowId): void {
    const { rules, state } = this.#cluster.workflow(id);
    if (rules.identity === undefined || rules.identity.replaces || state !== 'registering') return;
    const known = this.#standing(rules.identity.key);
    if (known === undefined) return;
    throw new DroverError('already-submitted', `${printWorkflow(known.id)} is the same, and was submitted meanwhile`, {
      details: { workflow: printWorkflow(known.id) },
    });
  }

  /** It is closed. */
  note(id: WorkflowId): void {
    const { rules, state } = this.#cluster.workflow(id);
    if (rules.identity !== undefined && state !== 'aborted') this.#newest.set(rules.identity.key, id);
  }

  #standing(key: string): WorkflowRecord | undefined {
    const id = this.#newest.get(key);
    const record = id === undefined ? undefined : this.#cluster.workflow(id);
    const isOver = record?.state === 'aborted' || record?.stop === 'user';
    return isOver ? undefined : record;
  }
}

function graphDiffers({ id }: WorkflowRecord, name: string): DroverError {
  const workflow = printWorkflow(id);
  const message = `${workflow} is '${name}' with the same arguments, but other tasks or edges`;
  return new DroverError('graph-differs', message, {
    hint: `give it other arguments (--arg), or begin a new one: --fresh runs all of it, --update ${workflow} what is not done there`,
    details: { workflow },
  });
}
