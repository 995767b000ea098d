/** What `run` and `submit` are given: which tasks there are, and how each of them runs. */
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { CliEnv } from '../environment.ts';
import { type ItemOptions, type Items, itemsOf } from './items.ts';
import { type SpecOptions, workflowSpecOf } from './workflow-spec.ts';

export interface InputOptions extends SpecOptions, ItemOptions {
  readonly dryRun?: boolean;
}

export interface Inputs {
  readonly items: Items;
  readonly spec: WorkflowSpec;
  /** What the user is told before the tasks are read. */
  readonly note: string | undefined;
}

export function inputsOf(env: CliEnv, words: readonly string[], options: InputOptions): Inputs {
  const items = itemsOf(env, words, options);
  const spec = workflowSpecOf(env, options);
  const isTyped = words[0] === '-' && env.isStdinTerminal;
  return { items, spec, note: isTyped ? 'drover: type a command a line, then Ctrl-D' : undefined };
}
