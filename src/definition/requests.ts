/**
 * What tasks are to ask for, apart from their definition: a file that `drover resources --write-yaml` writes of what was used, and
 * that `--resources` takes. It counts before what the definition says, field by field.
 */
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { stringify } from 'yaml';
import { requestsMax } from '../model/limits.ts';
import { isObject } from './document.ts';
import { Issues } from './issues.ts';
import { NeedWords } from './schema.ts';
import { mergedResources, resourcesOf } from './settings.ts';
import { parseText } from './text.ts';

const byName = Type.Record(Type.String({ minLength: 1 }), NeedWords, { maxProperties: requestsMax });

export const Requests = Type.Object(
  {
    /** Of tasks that have no other here. */
    default: Type.Optional(NeedWords),
    templates: Type.Optional(byName),
    /** By the name of a task, or of an array. */
    tasks: Type.Optional(byName),
  },
  { additionalProperties: false },
);
export type Requests = Static<typeof Requests>;

/** `name` is how errors call the text. */
export function parseRequests(text: string, name: string): Requests {
  const { document, locate } = parseText(text, name);
  const issues = new Issues(locate);
  const checker = Compile(Requests);
  if (!checker.Check(document)) {
    for (const { instancePath, message } of checker.Errors(document)) {
      issues.add(instancePath.split('/').slice(1), message);
    }
    issues.throwIfAny(name);
  }
  const requests = document as Requests;
  for (const [path, words] of partsOf(requests)) resourcesOf(words, path, issues);
  issues.throwIfAny(name);
  return requests;
}

function* partsOf({ default: all, templates = {}, tasks = {} }: Requests): Generator<[string[], NeedWords]> {
  if (all !== undefined) yield [['default'], all];
  for (const [name, words] of Object.entries(templates)) yield [['templates', name], words];
  for (const [name, words] of Object.entries(tasks)) yield [['tasks', name], words];
}

export const printRequests = (requests: Requests, comment: string): string =>
  `# ${comment}\n${stringify(requests, { flowCollectionPadding: false })}`;

/** Of both, `later` counts where it has something for the same tasks. */
export const mergedRequests = (earlier: Requests, later: Requests): Requests => ({
  ...earlier,
  ...later,
  ...(earlier.templates === undefined ? {} : { templates: { ...earlier.templates, ...later.templates } }),
  ...(earlier.tasks === undefined ? {} : { tasks: { ...earlier.tasks, ...later.tasks } }),
});

/** What is not a definition is left as it is, for the compiler to complain of. */
export function withRequests(document: unknown, requests: Requests): unknown {
  if (!isObject(document) || !Array.isArray(document.tasks)) return document;
  return { ...document, tasks: document.tasks.map((task) => (isObject(task) ? requesting(task, requests) : task)) };
}

function requesting(task: Record<string, unknown>, requests: Requests): Record<string, unknown> {
  const { name, template } = task;
  const words =
    ownOf(requests.tasks, name) ??
    ownOf(requests.templates, template) ??
    ownOf(requests.tasks, template) ??
    requests.default;
  const isJoin = template === undefined && task.command === undefined;
  if (words === undefined || isJoin) return task;
  const before = isObject(task.resources) ? task.resources : {};
  return { ...task, resources: mergedResources(before, words as typeof before) };
}

const ownOf = <T>(from: Readonly<Record<string, T>> | undefined, name: unknown): T | undefined =>
  from !== undefined && typeof name === 'string' && Object.hasOwn(from, name) ? from[name] : undefined;
