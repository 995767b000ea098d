/** Cuts tasks and edges into requests, as they are made. Memory is bounded by one batch. */
import { submitEdgesMax, submitTasksMax } from '../model/limits.ts';
import type { EdgeSpec, OutsideEdgeSpec, TaskBatch, TaskSpec } from '../protocol/spec.ts';
import { elementName, positionsOf, valuesAt } from './array.ts';
import type { Entry } from './entries.ts';
import type { Block, Plan, Standing } from './plan.ts';
import { fill } from './template.ts';

/** Of commands and values, about. */
const batchCharactersMax = 1_000_000;

export function* batchesOf(plan: Plan, argsOfWorkflow: ReadonlyMap<string, string>): Generator<TaskBatch, void> {
  const batch = new BatchInWork();
  for (const block of plan.blocks) {
    if (block.kind === 'join') {
      batch.add({}, 0);
      batch.link(block.parents, block.index, block.index);
      if (batch.isFull) yield batch.take();
      continue;
    }
    let from = block.first;
    for (let element = 0; element < block.entry.array.count; element++) {
      const index = block.first + element;
      const own = block.own(element);
      if (batch.isFullWith(own.length)) {
        batch.linkBlock(block, from, index - 1);
        from = index;
        yield batch.take();
      }
      const task = elementOf(block.entry, element, argsOfWorkflow);
      batch.add(task, charactersOf(task));
      batch.link(own, index, index);
    }
    batch.linkBlock(block, from, block.first + block.entry.array.count - 1);
  }
  if (!batch.isEmpty) yield batch.take();
}

class BatchInWork {
  #tasks: TaskSpec[] = [];
  #edges: EdgeSpec[] = [];
  #outside: OutsideEdgeSpec[] = [];
  #characters = 0;

  get isEmpty(): boolean {
    return this.#tasks.length === 0;
  }

  get isFull(): boolean {
    return this.isFullWith(0);
  }

  isFullWith(edges: number): boolean {
    if (this.isEmpty) return false;
    const isLarge = this.#tasks.length >= submitTasksMax || this.#characters >= batchCharactersMax;
    // Those of the block as a whole come on top: an entry has fewer links than that.
    return isLarge || this.#edges.length + this.#outside.length + edges >= submitEdgesMax / 2;
  }

  add(task: TaskSpec, characters: number): void {
    this.#tasks.push(task);
    this.#characters += characters;
  }

  link(parents: readonly Standing[], from: number, to: number): void {
    for (const { parents: span, after } of parents) {
      this.#edges.push({ parents: [...span], children: [from, to], after });
    }
  }

  linkBlock({ standing, outside }: Extract<Block, { readonly kind: 'tasks' }>, from: number, to: number): void {
    if (from > to) return;
    this.link(standing, from, to);
    for (const { workflow, task, on } of outside) {
      this.#outside.push({ workflow, task, children: [from, to], after: on });
    }
  }

  take(): TaskBatch {
    const [tasks, edges, outside] = [this.#tasks, this.#edges, this.#outside];
    [this.#tasks, this.#edges, this.#outside, this.#characters] = [[], [], [], 0];
    return { tasks, edges, ...(outside.length === 0 ? {} : { outside }) };
  }
}

export function elementOf(
  { name, template, array, settings }: Entry,
  element: number,
  argsOfWorkflow: ReadonlyMap<string, string>,
): TaskSpec {
  const positions = positionsOf(array, element);
  const named = { name: elementName(name, array, positions, element), ...settings };
  if (template === undefined) return named;
  const values = valuesAt(array, positions);
  const valueFor = (key: string): string => values.get(key) ?? template.args.get(key) ?? argsOfWorkflow.get(key) ?? '';
  const command = fill(template, valueFor);
  if (template.placeholders.size === 0) {
    return { command, ...named, ...(template.name === undefined ? {} : { template: template.name }) };
  }
  const args = Object.fromEntries([...template.placeholders].map((key) => [key, valueFor(key)]));
  return { command, ...named, ...(template.name === undefined ? {} : { template: template.name }), args };
}

const charactersOf = ({ command = '', args = {} }: TaskSpec): number =>
  Object.values(args).reduce((sum, value) => sum + value.length, command.length + 100);
