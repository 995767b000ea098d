/**
 * A page of the edges of a workflow, as compact as they can be told without sorting them: a row is one task and a range of
 * consecutive ones. Each edge is in one row only: that of its parent, or that of its child where the child has more edges,
 * so that a fan is as short as a join. Edges from and to other workflows are left out.
 */
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { printWorkflow, type TaskId, type WorkflowId } from '../../model/ids.ts';
import { queryLimits } from '../../model/limits.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import type { EdgeList } from '../../protocol/views/tasks.ts';
import { breath } from './breath.ts';
import { type ListQuery, pageOf } from './list-query.ts';

/** Positions are the index of a task and how many of its rows were given. */
const rowsPerTaskMax = 10_000_000;
/** Up to here edges are counted to find out which end has more. */
const degreeMax = 64;

interface Walk {
  readonly rows: EdgeSpec[];
  /** The position to go on from; undefined at the end. */
  readonly reached: number | undefined;
}

export async function edgePage(
  shell: ControllerShell,
  workflow: WorkflowId,
  query: Pick<ListQuery, 'limit' | 'cursor'>,
): Promise<EdgeList> {
  const page = pageOf(`edges-of-${printWorkflow(workflow)}`, query, ['index']);
  const rows: EdgeSpec[] = [];
  let position = page.after ?? rowsPerTaskMax;
  for (let looks = 0; looks < queryLimits.tasksMax; looks += queryLimits.tasksAtOnce) {
    const most = page.limit - rows.length;
    const walked = await shell.read((cluster) => walk(cluster, workflow, position, most));
    rows.push(...walked.rows);
    if (walked.reached === undefined) return { edges: rows };
    position = walked.reached;
    if (rows.length >= page.limit) break;
    await breath();
  }
  return { edges: rows, ...page.next(position) };
}

function walk(cluster: Cluster, workflow: WorkflowId, from: number, most: number): Walk {
  const record = cluster.workflow(workflow);
  const rows: EdgeSpec[] = [];
  let skipped = from % rowsPerTaskMax;
  let looks = 0;
  for (const task of record.tasks(Math.floor(from / rowsPerTaskMax))) {
    const index = cluster.tasks.index(task);
    let given = 0;
    if (looks >= queryLimits.tasksAtOnce) return { rows, reached: index * rowsPerTaskMax };
    for (const row of rowsOf(cluster, task, () => looks++)) {
      if (given++ < skipped) continue;
      if (rows.length >= most) return { rows, reached: index * rowsPerTaskMax + given - 1 };
      rows.push(row);
    }
    skipped = 0;
    looks++;
  }
  return { rows, reached: undefined };
}

/** One of the two lists that a task has of its edges. */
interface Side {
  readonly first: (task: TaskId) => number;
  readonly next: (edge: number) => number;
  readonly other: (edge: number) => TaskId;
}

const outOf = ({ graph }: Cluster): Side => ({
  first: (task) => graph.firstFrom(task),
  next: (edge) => graph.nextFrom(edge),
  other: (edge) => graph.childOf(edge),
});

const into = ({ graph }: Cluster): Side => ({
  first: (task) => graph.firstInto(task),
  next: (edge) => graph.nextInto(edge),
  other: (edge) => graph.parentOf(edge),
});

function degree({ first, next }: Side, task: TaskId): number {
  let count = 0;
  for (let edge = first(task); edge !== 0 && count < degreeMax; edge = next(edge)) count++;
  return count;
}

/** In the order of the task's lists, the newest edge first: what was added as a range comes as one. */
function* rowsOf(cluster: Cluster, task: TaskId, onLook: () => void): Generator<EdgeSpec> {
  const self = cluster.tasks.index(task);
  const single: EdgeSpec['parents'] = [self, self];
  const [children, parents] = [outOf(cluster), into(cluster)];
  // Of two ends with as many edges the parent tells.
  for (const { range, after } of ranges(
    cluster,
    task,
    children,
    (own, child) => own >= degree(parents, child),
    onLook,
  )) {
    yield { parents: single, children: range, after };
  }
  for (const { range, after } of ranges(
    cluster,
    task,
    parents,
    (own, parent) => own > degree(children, parent),
    onLook,
  )) {
    yield { parents: range, children: single, after };
  }
}

interface Range {
  readonly range: [from: number, to: number];
  readonly after: EdgeSpec['after'];
}

function* ranges(
  { tasks, graph }: Cluster,
  task: TaskId,
  side: Side,
  isToldHere: (ownDegree: number, other: TaskId) => boolean,
  onLook: () => void,
): Generator<Range> {
  const ownDegree = degree(side, task);
  let last: Range | undefined;
  for (let edge = side.first(task); edge !== 0; edge = side.next(edge)) {
    onLook();
    const other = side.other(edge);
    if (tasks.workflow(other) !== tasks.workflow(task) || !isToldHere(ownDegree, other)) continue;
    const index = tasks.index(other);
    const after = graph.kindOf(edge);
    if (last?.after === after && last.range[0] === index + 1) last.range[0] = index;
    else if (last?.after === after && last.range[1] === index - 1) last.range[1] = index;
    else {
      if (last !== undefined) yield last;
      last = { range: [index, index], after };
    }
  }
  if (last !== undefined) yield last;
}
