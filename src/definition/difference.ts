/** What two workflows of the same name and arguments differ in, as far as people want to know. */
import { differencesShownMax } from '../model/limits.ts';
import type { TaskSpec } from '../protocol/spec.ts';
import type { Difference } from '../protocol/views/submissions.ts';
import type { Flow } from './compile.ts';

interface Outlined {
  /** Its template, command and values. */
  readonly what: string;
  /** What it runs after: a task by its name, several of one array as `align[*]`. */
  readonly after: ReadonlySet<string>;
}

/** The tasks of a workflow by their names; joins are not among them. */
export type Outline = Map<string, Outlined>;

/** Arguments of templates that do not matter to what a task is. */
export type OpArgs = ReadonlyMap<string, ReadonlySet<string>>;

export const opArgsOf = ({ entries }: Flow): OpArgs =>
  new Map(entries.flatMap(({ template }) => (template?.name === undefined ? [] : [[template.name, template.opArgs]])));

/** Takes the tasks of a workflow in their order, each with the places of its parents. */
export class Outliner {
  readonly outline: Outline = new Map();
  readonly #opArgs: OpArgs;
  /** Of each task in its order: its name, or what a join stands for. */
  readonly #stand: (string | readonly string[])[] = [];

  constructor(opArgs: OpArgs) {
    this.#opArgs = opArgs;
  }

  add(spec: TaskSpec, parents: Iterable<number>): void {
    const names = new Set<string>();
    for (const parent of parents) for (const name of [this.#stand[parent - 1] ?? []].flat()) names.add(name);
    if (spec.command === undefined && spec.name === undefined) {
      this.#stand.push([...names]);
      return;
    }
    const name = spec.name ?? `#${this.#stand.length + 1}`;
    this.#stand.push(name);
    this.outline.set(name, { what: this.#whatOf(spec), after: shortened(names) });
  }

  /** A command with values that do not matter is known by its other values. */
  #whatOf({ template, command, args = {} }: TaskSpec): string {
    const outside = this.#opArgs.get(template ?? '');
    const kept = Object.entries(args).filter(([name]) => !outside?.has(name));
    return JSON.stringify([template, outside === undefined || outside.size === 0 ? command : null, kept.sort()]);
  }
}

const arrayOf = (name: string): string => name.replace(/\[.*$/s, '');

function shortened(names: ReadonlySet<string>): Set<string> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(arrayOf(name), (counts.get(arrayOf(name)) ?? 0) + 1);
  return new Set([...names].map((name) => ((counts.get(arrayOf(name)) ?? 0) > 1 ? `${arrayOf(name)}[*]` : name)));
}

export function outlineOf(flow: Flow): Outline {
  const outliner = new Outliner(opArgsOf(flow));
  let size = 0;
  for (const { tasks, edges } of flow.batches()) {
    const parents: [number, number][][] = tasks.map(() => []);
    for (const edge of edges) {
      for (let child = edge.children[0]; child <= edge.children[1]; child++)
        parents[child - size - 1]?.push(edge.parents);
    }
    tasks.forEach((spec, at) => {
      outliner.add(spec, indicesOf(parents[at] ?? []));
    });
    size += tasks.length;
  }
  return outliner.outline;
}

function* indicesOf(ranges: readonly (readonly [number, number])[]): Generator<number> {
  for (const [from, to] of ranges) for (let index = from; index <= to; index++) yield index;
}

export function differenceOf(before: Outline, after: Outline): Difference {
  const added = [...after.keys()].filter((name) => !before.has(name));
  const removed = [...before.keys()].filter((name) => !after.has(name));
  const both = [...after].flatMap(([name, now]) => {
    const then = before.get(name);
    return then === undefined ? [] : [{ name, now, then }];
  });
  const changed = both.filter(({ now, then }) => now.what !== then.what).map(({ name }) => name);
  const edges = both.flatMap(({ name, now, then }) => [
    ...[...now.after].filter((parent) => !then.after.has(parent)).map((parent) => `+ ${parent} → ${name}`),
    ...[...then.after].filter((parent) => !now.after.has(parent)).map((parent) => `- ${parent} → ${name}`),
  ]);
  return { added: shown(added), removed: shown(removed), changed: shown(changed), edges: shown(edges) };
}

const shown = (names: readonly string[]) => ({ count: names.length, first: names.slice(0, differencesShownMax) });
