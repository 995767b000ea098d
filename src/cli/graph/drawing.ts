/** What is drawn, whatever the format: nodes that are tasks, or many alike, and what waits for what. */
import type { EdgeKind, TaskState } from '../../model/states.ts';
import { showCount } from '../../model/units.ts';

/** States that are told apart by colour, the ones first that a group is coloured by. */
export const tones = ['failed', 'running', 'cancelled', 'pending', 'done'] as const;
export type Tone = (typeof tones)[number];

const toneOf: Readonly<Record<TaskState, Tone>> = {
  registering: 'pending',
  waiting: 'pending',
  queued: 'pending',
  launched: 'running',
  running: 'running',
  triaging: 'running',
  adjusting: 'running',
  cancelling: 'cancelled',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  aborted: 'cancelled',
};

/** For dark text; told apart also where red and green are not. */
export const colours: Readonly<Record<Tone, { readonly fill: string; readonly line: string }>> = {
  failed: { fill: '#f4b8b0', line: '#a3261a' },
  running: { fill: '#b9d7f5', line: '#1f5fa0' },
  cancelled: { fill: '#f3ddb0', line: '#8a6100' },
  pending: { fill: '#ececec', line: '#8a8a8a' },
  done: { fill: '#c3e6c5', line: '#2f7d36' },
};

export interface Node {
  readonly id: number;
  readonly kind: 'task' | 'group' | 'join';
  /** Empty for a join. */
  readonly label: string;
  /** How deep it is: longer than all ways to its parents. */
  readonly level: number;
  readonly states: ReadonlyMap<TaskState, number>;
}

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly after: EdgeKind;
}

export interface Drawing {
  readonly title: string;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
}

/** How many of a node's tasks have which colour. */
export function tonesOf({ states }: Node): ReadonlyMap<Tone, number> {
  const counts = new Map<Tone, number>();
  for (const [state, count] of states) counts.set(toneOf[state], (counts.get(toneOf[state]) ?? 0) + count);
  return counts;
}

/** Of one task its own; of many that of those one looks for first. */
export function toneOfNode(node: Node): Tone {
  const counts = tonesOf(node);
  return tones.find((tone) => counts.has(tone)) ?? 'pending';
}

/** `180 done, 20 failed` */
export const statesText = (states: ReadonlyMap<TaskState, number>): string =>
  [...states]
    .sort(([, a], [, b]) => b - a)
    .map(([state, count]) => `${showCount(count)} ${state}`)
    .join(', ');
