/** What `run` and `submit` are given: which tasks there are, and how each of them runs. */
import { resolve } from 'node:path';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { CliEnv } from '../environment.ts';
import { type Items, itemsOf } from './items.ts';
import { type SpecOptions, workflowSpecOf } from './workflow-spec.ts';

export interface InputOptions extends SpecOptions {
  readonly array?: string;
  /** What follows the first `:::`, itself included. */
  readonly sources: readonly string[];
  readonly dryRun?: boolean;
  readonly skipIfExists?: string;
  /** The input is a definition, whatever its name. */
  readonly flow?: boolean;
  /** Of a definition: `NAME=VALUE`. */
  readonly arg?: readonly string[];
  readonly fresh?: boolean;
  readonly maxTasks?: number;
  /** A file of what tasks are to ask for. */
  readonly resources?: string;
  /** They ask for what earlier ones have used. */
  readonly learn?: boolean;
}

/** The commands that take tasks: hints name the one that was typed. */
export type InputCommand = 'run' | 'submit';

export interface Inputs {
  readonly items: Items;
  readonly spec: WorkflowSpec;
  /** What the user is told before the tasks are read. */
  readonly note: string | undefined;
  /** What the user is told when `tasks` of them were read: what looks as if it was not meant so. */
  remarks(tasks: number): readonly string[];
}

/** A file that has more of them is explained by the first. */
const remarksMax = 5;

export function inputsOf(env: CliEnv, command: InputCommand, words: readonly string[], options: InputOptions): Inputs {
  const remarks: string[] = [];
  const remark = (text: string) => {
    if (remarks.length < remarksMax) remarks.push(`drover: ${text}`);
  };
  const spec = workflowSpecOf(env, options);
  const exists = (path: string): boolean => env.kindOf(resolve(spec.cwd, path)) !== 'missing';
  const items = itemsOf(env, words, { ...options, typed: `drover ${command}`, remark, exists });
  for (const name of garbledIn(spec.env)) remark(`tasks see the variable ${name} changed: it is not UTF-8`);
  const isTyped = words[0] === '-' && env.isStdinTerminal;
  return {
    items,
    spec,
    note: isTyped ? 'drover: type a command a line, then Ctrl-D' : undefined,
    remarks: (tasks) => (tasks === 0 ? [...remarks, `drover: ${nothingIn(words, options)}`] : remarks),
  };
}

/** What Node could not decode it has replaced. */
function garbledIn(environment: Readonly<Record<string, string>>): string[] {
  return Object.keys(environment).filter((name) => `${name}${environment[name]}`.includes('\ufffd'));
}

function nothingIn([input = '']: readonly string[], { sources }: InputOptions): string {
  if (sources.length > 0) return "no task: a list of values after ':::' is empty";
  const name = input === '-' ? 'stdin' : input;
  return `no task: ${name} has no line with a command; blank lines and lines that begin with # are none`;
}
