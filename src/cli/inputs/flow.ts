/** A definition of a workflow that `run` and `submit` are given: read, changed as options say, and compiled. */
import { compile, type Flow, type Surroundings } from '../../definition/compile.ts';
import { isObject } from '../../definition/document.ts';
import { type Requests, withRequests } from '../../definition/requests.ts';
import { parseText } from '../../definition/text.ts';
import { DroverError } from '../../model/errors.ts';
import type { DefinitionRequest } from '../../sdk/requests.ts';
import type { CliEnv } from '../environment.ts';
import type { InputOptions } from './inputs.ts';
import { wholeText } from './whole-text.ts';
import { workflowSpecOf } from './workflow-spec.ts';

export interface FlowInput {
  /** What the definition is called in messages. */
  readonly name: string;
  /** As the controller is asked what it and a workflow differ in. */
  readonly source: DefinitionRequest;
  readonly replaces: boolean;
  compile(addedTo?: { readonly workflow: string; readonly size: number }, requests?: Requests): Flow;
}

const hints = {
  missingHint: "name a file with a definition, or '-' for stdin with --flow",
  largeHint: 'give ranges and lists of values in its args, or a file with a command on each line',
};

export async function readFlow(env: CliEnv, words: readonly string[], options: InputOptions): Promise<FlowInput> {
  checkOptions(words, options);
  const [input = '-'] = words;
  const name = input === '-' ? 'stdin' : input;
  const { document: written, locate } = parseText(await wholeText(env, input, { name, ...hints }), name);
  const spec = workflowSpecOf(env, options);
  const surroundings = surroundingsOf(spec);
  const document = withOptions(written, options, spec.env);
  const args = argsOf(options.arg ?? []);
  const maxTasks = options.maxTasks === undefined ? {} : { maxTasks: options.maxTasks };
  return {
    name,
    source: { definition: document, args, surroundings },
    replaces: options.fresh === true || options.update !== undefined,
    compile: (addedTo, requests = {}) => {
      const added = addedTo === undefined ? {} : { addedTo };
      const named = addedTo === undefined ? document : nameless(document, addedTo.workflow);
      return compile(withRequests(named, requests), {
        surroundings,
        digest: env.digest,
        args,
        name,
        locate,
        ...maxTasks,
        ...added,
      });
    },
  };
}

function checkOptions(words: readonly string[], { array, sources, skipIfExists }: InputOptions): void {
  const wrong =
    array !== undefined
      ? '--array'
      : sources.length > 0
        ? ':::'
        : skipIfExists !== undefined
          ? '--skip-if-exists'
          : undefined;
  if (wrong !== undefined) {
    throw new DroverError('bad-input', `${wrong} is not for a definition`, {
      hint: 'give lists of values in its args',
    });
  }
  if (words.length > 1) throw new DroverError('bad-input', `one definition was expected, not ${words.length}`);
}

function surroundingsOf({ cwd, shell, env, outputDir, stdin, like, notify, commandLine }: Surroundings): Surroundings {
  return {
    ...{ cwd, shell, env },
    ...(outputDir === undefined ? {} : { outputDir }),
    ...(stdin === undefined ? {} : { stdin }),
    ...(like === undefined ? {} : { like }),
    ...(notify === undefined ? {} : { notify }),
    ...(commandLine === undefined ? {} : { commandLine }),
  };
}

/** What an option says counts before the document; of what tasks say for themselves it is a default, as there. */
function withOptions(document: unknown, options: InputOptions, env: Readonly<Record<string, string>>): unknown {
  if (!isObject(document)) return document;
  const { name, failFast, onLost, retries, timeout, termGrace, cpus, memory, gpus, walltime, queue } = options;
  const resources = given({ cpus, memory, gpus, walltime: ms(walltime), queue });
  const defaults = given({ retries, timeout: ms(timeout) });
  const before = isObject(document.defaults) ? document.defaults : {};
  const beforeResources = isObject(before.resources) ? before.resources : {};
  const { cwd: _, shell: __, ...rest } = document;
  const variables = Object.fromEntries(
    (options.env ?? []).map((entry) => entry.split('=')[0] ?? '').map((key) => [key, env[key]]),
  );
  return {
    ...rest,
    ...(options.cwd === undefined ? given({ cwd: document.cwd }) : {}),
    ...(options.shell === undefined ? given({ shell: document.shell }) : {}),
    ...given({
      name: name ?? document.name,
      failFast: failFast ?? document.failFast,
      onLost: onLost ?? document.onLost,
    }),
    ...given({ termGrace: ms(termGrace) ?? document.termGrace }),
    ...(Object.keys(variables).length > 0 && isObject(document.env) ? { env: { ...document.env, ...variables } } : {}),
    ...(Object.keys({ ...resources, ...defaults }).length === 0
      ? {}
      : {
          defaults: {
            ...before,
            ...defaults,
            ...(Object.keys(resources).length === 0 ? {} : { resources: { ...beforeResources, ...resources } }),
          },
        }),
  };
}

const given = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

const ms = (time: number | undefined): string | undefined => (time === undefined ? undefined : `${time}ms`);

/** Tasks that are added need no name of a workflow. */
const nameless = (document: unknown, workflow: string): unknown =>
  isObject(document) ? { name: workflow, ...document } : document;

function argsOf(entries: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    entries.map((entry) => {
      const equals = entry.indexOf('=');
      if (equals > 0) return [entry.slice(0, equals), entry.slice(equals + 1)];
      throw new DroverError('bad-input', `--arg '${entry}': a name and a value are needed`, {
        hint: '--arg NAME=VALUE',
      });
    }),
  );
}
