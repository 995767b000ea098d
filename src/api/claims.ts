/** Claims as their workers see them: what the reactor decided, with what only the store has. */

import type { Launch, LeaseTerms } from '../controller/messages.ts';
import type { ControllerShell } from '../controller/shell.ts';
import { DroverError } from '../model/errors.ts';
import { printAttempt, printTask, printWorkflow, type WorkerId, type WorkflowId } from '../model/ids.ts';
import type { ClaimView } from '../protocol/http-worker.ts';
import type { WorkflowSpec } from '../protocol/spec.ts';
import { isInherited, taskVariables, workflowVariables } from '../protocol/task-environment.ts';
import type { Reader, TaskDefinition } from '../store/store.ts';
import { optional } from './render.ts';

/** Specifications never change, and many claims are of few workflows: the last ones that were asked for. */
export class SpecCache {
  readonly #store: Pick<Reader, 'workflowSpec'>;
  readonly #specs = new Map<WorkflowId, WorkflowSpec>();

  constructor(store: Pick<Reader, 'workflowSpec'>) {
    this.#store = store;
  }

  async get(workflow: WorkflowId): Promise<WorkflowSpec> {
    const known = this.#specs.get(workflow);
    if (known !== undefined) return known;
    const spec = await this.#store.workflowSpec(workflow);
    if (spec === undefined) throw new DroverError('workflow-unknown', `there is no ${printWorkflow(workflow)}`);
    const [oldest] = this.#specs.keys();
    if (this.#specs.size >= specsMax && oldest !== undefined) this.#specs.delete(oldest);
    this.#specs.set(workflow, spec);
    return spec;
  }
}

const specsMax = 32;

export async function renderClaims(
  shell: ControllerShell,
  specs: SpecCache,
  worker: WorkerId,
  claims: readonly Launch[],
  { leaseMs, marginMs, heartbeatMs }: LeaseTerms,
): Promise<ClaimView[]> {
  const lease = { leaseMs, marginMs, heartbeatMs };
  const definitions = await shell.store.definitions(claims.map(({ task }) => task));
  const views: ClaimView[] = [];
  for (const [at, claim] of claims.entries()) {
    const definition = definitions[at] as TaskDefinition;
    const spec = await specs.get(definition.workflow);
    views.push(renderClaim(claim, definition, spec, worker, lease));
  }
  return views;
}

function renderClaim(
  { attempt, number }: Launch,
  { workflow, index, spec: task }: TaskDefinition,
  spec: WorkflowSpec,
  worker: WorkerId,
  lease: LeaseTerms,
): ClaimView {
  const { command = '', name, arrayIndex, resources } = task;
  const order = { attempt, number, workflow, index, ...optional('name', name), ...optional('arrayIndex', arrayIndex) };
  return {
    attempt: printAttempt(workflow, index, number),
    number,
    task: printTask(workflow, index),
    workflow: printWorkflow(workflow),
    ...optional('name', name),
    command,
    cwd: spec.cwd,
    shell: spec.shell,
    env: {
      ...Object.fromEntries(Object.entries(spec.env).filter(([variable]) => isInherited(variable))),
      ...variablesOf([...workflowVariables(workflow, worker), ...taskVariables(order)]),
    },
    ...optional('stdin', spec.stdin),
    ...optional('timeoutMs', task.timeoutMs ?? spec.timeoutMs),
    terminationMs: spec.terminationMs,
    ...optional('requestedResources', resources),
    lease,
  };
}

const variablesOf = (words: readonly string[]): Record<string, string> =>
  Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]));
