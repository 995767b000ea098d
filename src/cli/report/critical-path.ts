/**
 * The chain of tasks behind the last end. From the task that ended last one goes back to the one, of those that it waited for, that
 * ended last, and so on. To be done sooner, one of these has to start sooner or take less time.
 */
import { parseReference } from '../../model/ids.ts';
import { reportLimits } from '../../model/limits.ts';
import type { ReportPath } from '../../protocol/report.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import type { Started } from './tally.ts';

/** By index: the attempt of each task that ended last. */
type Last = ReadonlyMap<number, Started>;

/** Absent where nothing waits for anything. */
export function criticalPath(
  attempts: readonly Started[],
  edges: readonly EdgeSpec[],
  beginMs: number,
): ReportPath | undefined {
  if (edges.length === 0 || attempts.length === 0) return undefined;
  const last = lastAttempts(attempts);
  const parentsOf = parentsByChild(edges);
  const chain: Started[] = [];
  let at = [...last.keys()].reduce((latest, index) => (endMs(last, index) > endMs(last, latest) ? index : latest));
  for (const seen = new Set<number>(); !seen.has(at); ) {
    seen.add(at);
    const step = last.get(at);
    if (step !== undefined) chain.unshift(step);
    const before = latestParent(at, parentsOf, last);
    if (before === undefined) break;
    at = before;
  }
  return chain.length < 2 ? undefined : pathOf(chain, beginMs);
}

function lastAttempts(attempts: readonly Started[]): Last {
  const last = new Map<number, Started>();
  for (const attempt of attempts) {
    const index = parseReference(attempt.attempt)?.index;
    if (index === undefined) continue;
    const known = last.get(index);
    if (known === undefined || attempt.endMs >= known.endMs) last.set(index, attempt);
  }
  return last;
}

const endMs = (last: Last, index: number): number => last.get(index)?.endMs ?? Number.NEGATIVE_INFINITY;

function parentsByChild(edges: readonly EdgeSpec[]): ReadonlyMap<number, readonly EdgeSpec['parents'][]> {
  const found = new Map<number, EdgeSpec['parents'][]>();
  for (const { parents, children } of edges) {
    for (let child = children[0]; child <= children[1]; child++) {
      const own = found.get(child);
      if (own === undefined) found.set(child, [parents]);
      else own.push(parents);
    }
  }
  return found;
}

/** In the place of one that never ran, such as a join, stand those that it waited for itself. */
function latestParent(
  task: number,
  parentsOf: ReadonlyMap<number, readonly EdgeSpec['parents'][]>,
  last: Last,
): number | undefined {
  let latest: number | undefined;
  const seen = new Set<number>();
  const open = [task];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const [from, to] of parentsOf.get(at) ?? []) {
      for (let parent = from; parent <= to; parent++) {
        if (seen.has(parent)) continue;
        seen.add(parent);
        if (!last.has(parent)) open.push(parent);
        else if (latest === undefined || endMs(last, parent) > endMs(last, latest)) latest = parent;
      }
    }
  }
  return latest;
}

function pathOf(chain: readonly Started[], beginMs: number): ReportPath {
  const steps = chain.map(({ attempt, startMs, endMs: end }, at) => {
    const waitedMs = Math.max(0, startMs - (chain[at - 1]?.endMs ?? beginMs));
    return { attempt, waitedMs, ms: end - startMs };
  });
  const told = steps.slice(-reportLimits.pathMax);
  const left = steps.length - told.length;
  const [waitedMs, ms] = [sumOf(steps.map((step) => step.waitedMs)), sumOf(steps.map((step) => step.ms))];
  return { steps: told, ...(left === 0 ? {} : { left }), waitedMs, ms };
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
