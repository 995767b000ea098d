/** What `run`'s options and the surroundings of the submitter say of a workflow. */
import { delimiter, join, resolve } from 'node:path';
import { DroverError } from '../../model/errors.ts';
import { parseReference } from '../../model/ids.ts';
import { environmentBytesMax, nameBytesMax, terminationMsDefault } from '../../model/limits.ts';
import type { LossPolicy } from '../../model/states.ts';
import { showBytes } from '../../model/units.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import type { CliEnv } from '../environment.ts';
import { type NotifyOptions, webhooksOf } from '../notify.ts';

export interface SpecOptions extends NotifyOptions {
  /** By which it is submitted. */
  readonly commandLine?: string;
  readonly name?: string;
  /** An earlier workflow, by id or name. */
  readonly update?: string;
  readonly cwd?: string;
  readonly env?: readonly string[];
  readonly shell?: string;
  readonly retries?: number;
  readonly resourceRetries?: number;
  readonly timeout?: number;
  readonly termGrace?: number;
  readonly failFast?: boolean;
  readonly onLost?: LossPolicy;
  readonly output?: string;
  readonly stdin?: string;
  readonly cpus?: number;
  /** In bytes. */
  readonly memory?: number;
  readonly gpus?: number;
  /** In ms. */
  readonly walltime?: number;
  readonly queue?: string;
}

export function workflowSpecOf(env: CliEnv, options: SpecOptions): WorkflowSpec {
  const { update, resourceRetries, timeout, output, stdin } = options;
  const name = options.name ?? nameIn(update);
  const cwd = existingDirectory(env, options.cwd ?? '.');
  const notify = webhooksOf(env, options);
  return {
    ...(name === undefined ? {} : { name: checkedName(name) }),
    cwd,
    shell: findShell(env, options.shell),
    env: environmentOf(env, cwd, options.env ?? []),
    maxAttempts: (options.retries ?? 0) + 1,
    ...(resourceRetries === undefined ? {} : { maxResourceRetries: resourceRetries }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    terminationMs: options.termGrace ?? terminationMsDefault,
    failFast: options.failFast ?? false,
    ...(options.onLost === undefined ? {} : { onLost: options.onLost }),
    ...resourcesIn(options),
    open: false,
    ...(output === undefined ? {} : { outputDir: outputDirectory(env, output) }),
    ...(update === undefined ? {} : { like: checkedName(update) }),
    ...(stdin === undefined ? {} : { stdin: existingFile(env, stdin) }),
    ...(notify.length === 0 ? {} : { notify }),
    ...(options.commandLine === undefined ? {} : { commandLine: options.commandLine }),
  };
}

function resourcesIn({ cpus, memory, gpus, walltime, queue }: SpecOptions): Pick<WorkflowSpec, 'resources'> {
  const resources = {
    ...(cpus === undefined ? {} : { cpus }),
    ...(memory === undefined ? {} : { memoryBytes: memory }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(walltime === undefined ? {} : { runtimeMs: walltime }),
    ...(queue === undefined ? {} : { queue }),
  };
  return Object.keys(resources).length === 0 ? {} : { resources };
}

/** What updates a workflow by its name takes over the name, to be updated in its turn. */
const nameIn = (update: string | undefined): string | undefined =>
  update === undefined || parseReference(update) !== undefined ? undefined : update;

function checkedName(name: string): string {
  if (name !== '' && Buffer.byteLength(name) <= nameBytesMax) return name;
  throw new DroverError('bad-input', `--name has 1 to ${nameBytesMax} bytes, not ${Buffer.byteLength(name)}`, {
    hint: 'give it a shorter label, or none',
  });
}

function existingDirectory(env: CliEnv, name: string): string {
  const path = resolve(env.cwd, name);
  const kind = env.kindOf(path);
  if (kind === 'directory') return path;
  const what = kind === 'missing' ? `no such directory: ${name}` : `${name} is not a directory`;
  throw new DroverError('bad-input', `--cwd: ${what}`, {
    hint: 'make it first, or name the directory where tasks run',
  });
}

/** It is made when it is missing. */
function outputDirectory(env: CliEnv, name: string): string {
  const path = resolve(env.cwd, name);
  if (env.kindOf(path) !== 'file') return path;
  throw new DroverError('bad-input', `--output: ${name} is not a directory`, {
    hint: "name a directory for the tasks' output; it is made when it is missing",
  });
}

function existingFile(env: CliEnv, name: string): string {
  const path = resolve(env.cwd, name);
  const kind = env.kindOf(path);
  if (kind === 'file') return path;
  const what = kind === 'missing' ? `no such file: ${name}` : `${name} is a directory`;
  throw new DroverError('bad-input', `--stdin: ${what}`, { hint: 'name a file that every task reads' });
}

/** A line of a task file means what it means in the user's terminal, which is bash for most. */
function findShell(env: CliEnv, wanted: string | undefined): string {
  const candidates = wanted === undefined ? ['bash', 'sh'] : [wanted];
  const found = candidates.map((name) => findProgram(env, name)).find((path) => path !== undefined);
  if (found !== undefined) return found;
  throw new DroverError('bad-input', `no shell: ${candidates.join(' or ')} is not an executable file`, {
    hint: 'name one with --shell, for example --shell /bin/sh',
  });
}

function findProgram(env: CliEnv, name: string): string | undefined {
  if (name.includes('/')) {
    const path = resolve(env.cwd, name);
    return env.isExecutable(path) ? path : undefined;
  }
  const folders = (env.variables.PATH || '/usr/bin:/bin').split(delimiter);
  return folders.map((folder) => join(resolve(env.cwd, folder), name)).find((path) => env.isExecutable(path));
}

/** They tell of the submitting shell, not of its user's wishes. */
const ofTheShell = new Set(['_', 'SHLVL', 'OLDPWD', 'PWD']);

/** All that the submitter has, without what is Drover's or the shell's own; then `--env`, which may set anything. */
function environmentOf({ variables }: CliEnv, cwd: string, wanted: readonly string[]): Record<string, string> {
  const environment: Record<string, string> = { PWD: cwd };
  for (const [name, value] of Object.entries(variables)) {
    if (!ofTheShell.has(name) && !name.startsWith('DROVER_')) environment[name] = value;
  }
  for (const entry of wanted) {
    const [name, value] = parseVariable(entry, variables);
    environment[name] = value;
  }
  checkSize(environment);
  return environment;
}

function parseVariable(entry: string, variables: CliEnv['variables']): readonly [string, string] {
  const equals = entry.indexOf('=');
  if (equals > 0) return [entry.slice(0, equals), entry.slice(equals + 1)];
  const value = Object.hasOwn(variables, entry) ? variables[entry] : undefined;
  if (value !== undefined) return [entry, value];
  const what = equals === 0 || entry === '' ? 'the name is empty' : 'there is no such variable here';
  throw new DroverError('bad-input', `--env '${entry}': ${what}`, {
    hint: '--env NAME=VALUE sets one; --env NAME takes it from the environment',
  });
}

function checkSize(environment: Readonly<Record<string, string>>): void {
  const sizes = Object.entries(environment).map(([name, value]) => ({
    name,
    size: Buffer.byteLength(name) + Buffer.byteLength(value) + 2,
  }));
  const total = sizes.reduce((sum, { size }) => sum + size, 0);
  if (total <= environmentBytesMax) return;
  const largest = sizes.reduce((max, each) => (each.size > max.size ? each : max));
  throw new DroverError(
    'too-large',
    `the environment has ${showBytes(total)}, more than ${showBytes(environmentBytesMax)}`,
    {
      hint: `the largest variable is ${largest.name}; unset it for this command: env -u ${largest.name} drover …`,
    },
  );
}
