/**
 * Which tags tasks have, as far as statistics tell them apart: a column of 16 bits, and each combination once. Of a name
 * that has many values in a workflow the later ones are `other`, so that a tag that is different for each task leaves the
 * rest of its tags alone. Not durable, read again after a restart.
 *
 * Owns: the column, which takes no memory while no task has a tag; the combinations.
 */
import { Shorts } from '../../core/columns.ts';
import type { TaskId, WorkflowId } from '../../model/ids.ts';
import { statisticsLimits } from '../../model/limits.ts';

export const other = 'other';

/** The keys of a task's tags. */
export type TagSet = readonly string[];

/** A name may have any character: its length in front tells where it ends. */
export const tagKey = (name: string, value: string): string => `${prefixOf(name)}${value}`;
/** What the keys of all tags of that name begin with. */
export const prefixOf = (name: string): string => `${name.length}:${name}=`;
/** What every key begins with: for who asks about any tag. */
export const anyPrefix = '';
/** That of the tag's own name. */
export const prefixIn = (key: string): string =>
  key.slice(0, key.indexOf(':') + 1 + Number.parseInt(key, 10) + '='.length);
/** `name=value`, as people write it. */
export const shownTag = (key: string): string => key.slice(key.indexOf(':') + 1);
/** What is left of a tag where its value is one of too many. */
export const otherOf = (key: string): string => `${prefixIn(key)}${other}`;

const none: TagSet = [];
const lastSet = 65_535;

export class TagSets {
  readonly #column = new Shorts();
  readonly #sets: TagSet[] = [none];
  readonly #numbers = new Map<string, number>();
  /** By workflow, by name: the values that are told apart. */
  readonly #values = new Map<WorkflowId, Map<string, Set<string>>>();

  of(task: TaskId): TagSet {
    return this.#sets.length === 1 ? none : (this.#sets[this.#column.get(task)] ?? none);
  }

  note(workflow: WorkflowId, task: TaskId, tags: Readonly<Record<string, string>>): void {
    const known = this.#valuesOf(workflow);
    const set = Object.entries(tags)
      .flatMap(([name, value]) => this.#told(known, name, value) ?? [])
      .sort();
    if (set.length > 0) this.#column.set(task, this.#numberOf(set));
  }

  /** Nothing of that workflow will be asked for any more. */
  forget(workflow: WorkflowId): void {
    this.#values.delete(workflow);
  }

  #valuesOf(workflow: WorkflowId): Map<string, Set<string>> {
    const known = this.#values.get(workflow) ?? new Map<string, Set<string>>();
    this.#values.set(workflow, known);
    return known;
  }

  #told(known: Map<string, Set<string>>, name: string, value: string): string | undefined {
    const values = known.get(name) ?? new Set<string>();
    if (!known.has(name)) {
      if (known.size >= statisticsLimits.tagNamesMax) return undefined;
      known.set(name, values);
    }
    if (values.size < statisticsLimits.tagValuesMax) values.add(value);
    return tagKey(name, values.has(value) ? value : other);
  }

  #numberOf(set: TagSet): number {
    const key = JSON.stringify(set);
    const number = this.#numbers.get(key);
    if (number !== undefined) return number;
    if (this.#sets.length >= statisticsLimits.tagSetsMax) return this.#rest(set);
    this.#sets.push(set);
    this.#numbers.set(key, this.#sets.length - 1);
    return this.#sets.length - 1;
  }

  /** Beyond the limit all that is known of a task is which names it has; and beyond that, nothing. */
  #rest(set: TagSet): number {
    const names = set.map(otherOf);
    const key = JSON.stringify(names);
    const number = this.#numbers.get(key);
    if (number !== undefined || this.#sets.length > lastSet) return number ?? 0;
    this.#sets.push(names);
    this.#numbers.set(key, this.#sets.length - 1);
    return this.#sets.length - 1;
  }
}
