/**
 * From tasks and edges to a drawing of bounded size: where there are too many tasks, those of one template and one level
 * become one node, and edges between the same two nodes one edge.
 */
import { DroverError } from '../../model/errors.ts';
import { graphLimits } from '../../model/limits.ts';
import type { EdgeKind, TaskState } from '../../model/states.ts';
import { showCount } from '../../model/units.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import { printable, truncate } from '../display/text.ts';
import type { Drawing, Edge, Node } from './drawing.ts';
import { statesText } from './drawing.ts';
import { levelsOf } from './levels.ts';

export type DrawnTask = Pick<TaskView, 'id' | 'index' | 'name' | 'command' | 'state' | 'template'>;

export interface FoldOptions {
  readonly title: string;
  /** One node for all tasks of a template. */
  readonly byTemplate?: boolean;
  /** Nothing is folded. */
  readonly all?: boolean;
}

export function draw(tasks: readonly DrawnTask[], edges: readonly EdgeSpec[], options: FoldOptions): Drawing {
  const levels = levelsOf(tasks.length, edges);
  const isFew = tasks.length <= graphLimits.foldNodes;
  const keyOf = keyFor(options, isFew, levels);
  const groups = new Map<string, DrawnTask[]>();
  for (const task of tasks) {
    const key = keyOf(task);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [task]);
    else group.push(task);
  }
  checkCount(groups.size, graphLimits.nodesMax, 'nodes', options);
  const nodeOf = new Int32Array(tasks.length + 1);
  const nodes = [...groups.values()].map((group, at) => nodeFor(group, at + 1, levels, nodeOf));
  const folded = foldEdges(edges, nodeOf);
  checkCount(folded.length, graphLimits.edgesMax, 'edges', options);
  return { title: options.title, nodes, edges: folded };
}

function checkCount(count: number, most: number, what: string, { all, byTemplate }: FoldOptions): void {
  if (count <= most) return;
  throw new DroverError(
    'too-large',
    `the drawing would have ${showCount(count)} ${what}, more than ${showCount(most)}`,
    {
      hint: all
        ? 'leave out --all: alike tasks are then one node'
        : byTemplate
          ? 'a graph of so many kinds of tasks can not be drawn to be read'
          : 'draw the templates alone: --by-template',
    },
  );
}

type KeyOf = (task: DrawnTask) => string;

function keyFor({ all, byTemplate }: FoldOptions, isFew: boolean, levels: Int32Array): KeyOf {
  const alone: KeyOf = ({ index }) => `${index}`;
  if (byTemplate) return (task) => (task.command === undefined ? alone(task) : kindOf(task));
  if (all || isFew) return alone;
  return (task) => `${levels[task.index]} ${task.command === undefined ? '' : kindOf(task)}`;
}

/** Its template or, where nobody said, the program that it runs. */
const kindOf = ({ template, command = '' }: DrawnTask): string =>
  template ?? command.trim().split(/\s/)[0]?.split('/').at(-1) ?? '';

function nodeFor(group: readonly DrawnTask[], id: number, levels: Int32Array, nodeOf: Int32Array): Node {
  const states = new Map<TaskState, number>();
  let level = Number.POSITIVE_INFINITY;
  for (const { index, state } of group) {
    states.set(state, (states.get(state) ?? 0) + 1);
    level = Math.min(level, levels[index] ?? 0);
    nodeOf[index] = id;
  }
  const [first] = group as [DrawnTask];
  if (first.command === undefined) return { id, kind: 'join', label: '', level, states };
  if (group.length === 1) return { id, kind: 'task', label: labelOf(first), level, states };
  const kind = truncate(printable(kindOf(first)), graphLimits.labelChars);
  return { id, kind: 'group', label: `${kind} ×${showCount(group.length)}: ${statesText(states)}`, level, states };
}

const labelOf = ({ id, name, command = '' }: DrawnTask): string =>
  `${id} ${truncate(printable(name ?? command), graphLimits.labelChars)}`;

/** Within a node nothing is drawn. */
function foldEdges(edges: readonly EdgeSpec[], nodeOf: Int32Array): Edge[] {
  const folded = new Map<string, Edge>();
  const add = (from: number, to: number, after: EdgeKind): void => {
    if (from !== to) folded.set(`${from} ${to} ${after}`, { from, to, after });
  };
  for (const { parents, children, after } of edges) {
    for (let parent = parents[0]; parent <= parents[1]; parent++) {
      for (let child = children[0]; child <= children[1]; child++) add(nodeOf[parent] ?? 0, nodeOf[child] ?? 0, after);
    }
  }
  return [...folded.values()];
}
