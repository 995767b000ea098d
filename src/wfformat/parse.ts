/** From text to an instance that is whole: of the right version and shape, with edges that both of their ends know. */
import { Compile } from 'typebox/compile';
import { DroverError } from '../model/errors.ts';
import { faultIn } from './json-fault.ts';
import { Instance, type SpecifiedTask, schemaVersion } from './schema.ts';

const hint = 'give a file in WfFormat 1.5, as WfCommons and its WfInstances have them';

const bad = (name: string, what: string): DroverError => new DroverError('bad-input', `${name}: ${what}`, { hint });

/** Faults of one kind are told up to so many; the first ones say what is wrong. */
const toldMax = 5;

const told = (all: readonly string[]): string =>
  all.length <= toldMax ? all.join(', ') : `${all.slice(0, toldMax).join(', ')} and ${all.length - toldMax} more`;

/** `name` is how errors call the file. */
export function parseInstance(text: string, name: string): Instance {
  const value = parseJson(text, name);
  checkVersion(value, name);
  const [error] = compiled().Errors(value);
  if (error !== undefined) throw bad(name, `${pathOf(error.instancePath)} ${error.message}`);
  const instance = value as Instance;
  checkTasks(instance, name);
  return instance;
}

let checker: ReturnType<typeof Compile<typeof Instance>> | undefined;

function compiled(): ReturnType<typeof Compile<typeof Instance>> {
  checker ??= Compile(Instance);
  return checker;
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const { line, column } = faultIn(text);
    throw new DroverError('bad-input', `${name}, line ${line}, column ${column}: it is not JSON`, {
      hint,
      cause,
      details: { line, column },
    });
  }
}

function checkVersion(value: unknown, name: string): void {
  const version = typeof value === 'object' && value !== null && 'schemaVersion' in value && value.schemaVersion;
  if (version === schemaVersion) return;
  const what = version ? `its schemaVersion is ${JSON.stringify(version)}` : 'it has no schemaVersion';
  throw bad(name, `${what}; this reads ${schemaVersion}`);
}

const pathOf = (pointer: string): string =>
  pointer === ''
    ? 'the file'
    : pointer
        .slice(1)
        .replaceAll(/\/(\d+)/g, '[$1]')
        .replaceAll('/', '.');

function checkTasks({ workflow: { specification, execution } }: Instance, name: string): void {
  const byId = new Map<string, SpecifiedTask>();
  for (const task of specification.tasks) {
    if (byId.has(task.id)) throw bad(name, `two tasks have the id ${task.id}`);
    byId.set(task.id, task);
  }
  const unknown = specification.tasks.flatMap(({ id, parents, children }) =>
    [...parents, ...children].filter((other) => !byId.has(other)).map((other) => `${other} (of ${id})`),
  );
  if (unknown.length > 0) throw bad(name, `there are no tasks ${told(unknown)}`);
  checkBothEnds(specification.tasks, name);
  const stray = (execution?.tasks ?? []).filter(({ id }) => !byId.has(id)).map(({ id }) => id);
  if (stray.length > 0) throw bad(name, `execution has tasks that specification has not: ${told(stray)}`);
}

/** An edge that only one of its ends knows is a slip in the file: to guess which one is right could lose an edge. */
function checkBothEnds(tasks: readonly SpecifiedTask[], name: string): void {
  const childrenOf = new Map(tasks.map(({ id, children }) => [id, new Set(children)]));
  const parentsOf = new Map(tasks.map(({ id, parents }) => [id, new Set(parents)]));
  const faults: string[] = [];
  for (const { id, parents, children } of tasks) {
    for (const parent of parents)
      if (!childrenOf.get(parent)?.has(id))
        faults.push(`${id} names ${parent} as parent, which does not name it as child`);
    for (const child of children)
      if (!parentsOf.get(child)?.has(id))
        faults.push(`${id} names ${child} as child, which does not name it as parent`);
  }
  if (faults.length > 0) throw bad(name, told(faults));
}
