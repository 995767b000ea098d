/**
 * Where chains of dependencies end: behind a task that waits, or that was cancelled or failed for another, is at last one that does neither. Of
 * several that one is told for which somebody has to do something.
 *
 * Owns: what was found out so far, and how many more edges may be looked at.
 */
import type { TaskId } from '../../model/ids.ts';
import { whyLimits } from '../../model/limits.ts';
import type { EdgeKind, TaskState } from '../../model/states.ts';
import type { Cluster } from '../cluster.ts';
import { edgeStatus } from '../graph.ts';
import type { Dependency, Some } from './reason.ts';
import { Few } from './some.ts';

export interface Root {
  readonly task: TaskId;
  readonly steps: number;
  readonly isCut: boolean;
  readonly rank: number;
}

interface Frame {
  readonly task: TaskId;
  edge: number;
  best: Root | undefined;
}

/**
 * Whether an edge keeps its child where it is: one that waits, by any that is not met; one that was cancelled, by one that can't
 * be; a check that failed, by the failure that it found.
 */
function isInTheWay({ tasks }: Cluster, child: TaskId, after: EdgeKind, parent: TaskState): boolean {
  const state = tasks.state(child);
  if (state === 'failed') return edgeStatus('failure', parent) === 'met';
  const status = edgeStatus(after, parent);
  return state === 'cancelled' ? status === 'impossible' : status !== 'met';
}

/** Whether it is where it is because of others. */
export function dependsOnOthers({ tasks }: Cluster, task: TaskId): boolean {
  const state = tasks.state(task);
  if (state === 'waiting' || state === 'registering') return tasks.pending(task) > 0;
  const reason = tasks.reason(task);
  if (state === 'failed') return reason === 'check';
  return state === 'cancelled' && (reason === 'upstream' || reason === 'unneeded');
}

export class Roots {
  readonly #cluster: Cluster;
  readonly #rankOf: (task: TaskId) => number;
  readonly #found = new Map<TaskId, Root>();
  #edgesLeft: number = whyLimits.edgesMax;
  #rootsLeft: number = whyLimits.rootsMax;

  constructor(cluster: Cluster, rankOf: (task: TaskId) => number) {
    this.#cluster = cluster;
    this.#rankOf = rankOf;
  }

  /** What a task that depends on others depends on. */
  dependenciesOf(task: TaskId): Some<Dependency> {
    const { graph, tasks } = this.#cluster;
    const named = new Few<Dependency>();
    // Those that one waits for are counted anyway.
    const isCounted = tasks.state(task) !== 'cancelled';
    const most = isCounted ? whyLimits.namedMax : Number.POSITIVE_INFINITY;
    let looks = 0;
    for (let edge = graph.firstInto(task); edge !== 0 && named.count < most; edge = graph.nextInto(edge)) {
      if (++looks > whyLimits.edgesMax) {
        named.isCut = true;
        break;
      }
      const [parent, after] = [graph.parentOf(edge), graph.kindOf(edge)];
      const state = tasks.state(parent);
      if (isInTheWay(this.#cluster, task, after, state)) named.add({ task: parent, state, after });
    }
    const first = named.first.sort((one, other) => one.task - other.task);
    return isCounted ? { first, count: tasks.pending(task), isCut: false } : { ...named, first };
  }

  /** Undefined for one that depends on nobody. */
  rootOf(task: TaskId): Root | undefined {
    if (!dependsOnOthers(this.#cluster, task)) return undefined;
    const root = this.#walk(task);
    return root.task === task ? undefined : root;
  }

  /** From each to those that it depends on, and back with what is at their ends. */
  #walk(start: TaskId): Root {
    const stack: Frame[] = [this.#frame(start)];
    for (;;) {
      const frame = stack.at(-1) as Frame;
      const parent = this.#nextParent(frame);
      const known = parent === undefined ? this.#close(frame) : this.#found.get(parent);
      if (known === undefined) {
        stack.push(this.#frame(parent as TaskId));
        continue;
      }
      if (parent === undefined) stack.pop();
      const above = stack.at(-1);
      if (above === undefined) return known;
      above.best = better(above.best, { ...known, steps: known.steps + 1 });
    }
  }

  #frame(task: TaskId): Frame {
    const edge = dependsOnOthers(this.#cluster, task) ? this.#cluster.graph.firstInto(task) : 0;
    return { task, edge, best: undefined };
  }

  /** The next one that its task depends on; none when all were looked at, or no more may be. */
  #nextParent(frame: Frame): TaskId | undefined {
    const { graph, tasks } = this.#cluster;
    while (frame.edge !== 0 && this.#edgesLeft > 0) {
      const edge = frame.edge;
      this.#edgesLeft--;
      frame.edge = graph.nextInto(edge);
      const parent = graph.parentOf(edge);
      if (isInTheWay(this.#cluster, frame.task, graph.kindOf(edge), tasks.state(parent))) return parent;
    }
    return undefined;
  }

  #close({ task, edge, best }: Frame): Root {
    const isCut = edge !== 0;
    const root = best ?? { task, steps: 0, isCut, rank: isCut || this.#rootsLeft-- <= 0 ? 0 : this.#rankOf(task) };
    const found = isCut && !root.isCut ? { ...root, isCut } : root;
    this.#found.set(task, found);
    return found;
  }
}

/** Of equal ones the first that was found. */
const better = (one: Root | undefined, other: Root): Root => (one === undefined || other.rank > one.rank ? other : one);
