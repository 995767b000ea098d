/**
 * What a workflow is: its name, its arguments, and the digest of its graph. The digest covers each task by its name, its
 * template, its values (without those of operation) and what it runs after. It is a sum, so that the order in which tasks
 * and values are written does not matter; nor do resources, retries and labels.
 */
import { elementName, positionsOf, valuesAt } from './array.ts';
import type { Entry, Link } from './entries.ts';

/** SHA-256 in hex. */
export type Digest = (text: string) => string;

const lanes = 8;
/** Tasks between two breaths of whoever has others to serve. */
const tasksAtOnce = 1_000;

export function* graphOf(
  entries: readonly Entry[],
  argsOfWorkflow: ReadonlyMap<string, string>,
  digest: Digest,
): Generator<void, string> {
  const sum = new Uint32Array(lanes);
  let count = 0;
  for (const entry of entries) {
    const after = JSON.stringify(entry.links.map(linkText).toSorted());
    for (let element = 0; element < entry.array.count; element++) {
      const hash = digest(`${elementText(entry, element, argsOfWorkflow)}${after}`);
      for (let lane = 0; lane < lanes; lane++) {
        sum[lane] = (sum[lane] ?? 0) + Number.parseInt(hash.slice(lane * 8, lane * 8 + 8), 16);
      }
      count += 1;
      if (count % tasksAtOnce === 0) yield;
    }
  }
  return digest(JSON.stringify([count, ...sum]));
}

function elementText({ name, template, array }: Entry, element: number, argsOfWorkflow: ReadonlyMap<string, string>) {
  const positions = positionsOf(array, element);
  const values = valuesAt(array, positions);
  const keys = [...(template?.placeholders ?? [])].filter((key) => !template?.opArgs.has(key)).sort();
  const args = keys.map((key) => [key, values.get(key) ?? template?.args.get(key) ?? argsOfWorkflow.get(key)]);
  const what = [elementName(name, array, positions, element), template?.name ?? null, template?.command ?? null, args];
  return JSON.stringify(what);
}

function linkText(link: Link): string {
  if (link.kind === 'outside') return JSON.stringify(['outside', link.workflow, link.task, link.on]);
  return JSON.stringify([link.kind, link.entry.name, link.on]);
}
