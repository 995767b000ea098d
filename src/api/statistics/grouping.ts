/** By what groups are told apart: which of a workflow's cells are which group, and which group a task or an attempt is of. */

import type { Cell } from '../../controller/statistics/cell.ts';
import type { Statistics } from '../../controller/statistics/statistics.ts';
import { anyPrefix, other, prefixOf, shownTag, type TagSet } from '../../controller/statistics/tag-sets.ts';
import type { Place, WorkflowCells } from '../../controller/statistics/workflow-cells.ts';
import type { Cluster } from '../../core/cluster.ts';
import { printWorker, type TaskId, type WorkerId } from '../../model/ids.ts';

export interface Grouping {
  cellsOf(cells: WorkflowCells, cluster: Cluster): Iterable<readonly [name: string, cell: Cell]>;
  groupsOf(place: Place, cluster: Cluster): readonly string[];
  /** Where tasks have groups before they run. The same list for the same groups, as far as possible. */
  readonly ofTask?: (statistics: Statistics, task: TaskId) => readonly string[];
}

/** What it made of each value, to be given again. */
function once<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const made = new Map<Key, Made>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const found = make(key);
    made.set(key, found);
    return found;
  };
}

const workerName = (worker: WorkerId | 0): string => (worker === 0 ? other : printWorker(worker));
const hostName = (worker: WorkerId | 0, { workers }: Cluster): string =>
  worker === 0 ? other : (workers.get(worker)?.host ?? other);

const byTemplate = (): Grouping => {
  const groupOf = once((template: string) => [template]);
  return {
    cellsOf: (cells) => cells.templates,
    groupsOf: ({ template }) => groupOf(template),
    ofTask: (statistics, task) => groupOf(statistics.templateOf(task)),
  };
};

const byWorker = (): Grouping => ({
  cellsOf: (cells) => [...cells.workers].map(([worker, cell]) => [workerName(worker), cell] as const),
  groupsOf: ({ worker }) => [printWorker(worker)],
});

const byHost = (): Grouping => ({
  cellsOf: (cells, cluster) => [...cells.workers].map(([worker, cell]) => [hostName(worker, cluster), cell] as const),
  groupsOf: ({ worker }, cluster) => [hostName(worker, cluster)],
});

/** By tags whose keys begin so. What has none is of the group without a name. */
function byTags(prefix: string, nameOf: (tag: string) => string): Grouping {
  const groupsIn = once((tags: TagSet): readonly string[] => {
    const names = tags.filter((tag) => tag.startsWith(prefix)).map(nameOf);
    return names.length === 0 ? [''] : names;
  });
  return {
    *cellsOf(cells) {
      for (const [tag, cell] of cells.tags) if (tag.startsWith(prefix)) yield [nameOf(tag), cell];
      yield ['', cells.without(prefix)];
    },
    groupsOf: ({ tags }) => groupsIn(tags),
    ofTask: (statistics, task) => groupsIn(statistics.tags.of(task)),
  };
}

const groupings: Readonly<Record<string, () => Grouping>> = {
  ...{ template: byTemplate, worker: byWorker, host: byHost },
  tag: () => byTags(anyPrefix, shownTag),
};

const tagPrefix = 'tag:';

/** `by` is as the schema of the route has it. */
export function groupingBy(by: string): Grouping {
  const known = groupings[by];
  if (known !== undefined) return known();
  const prefix = prefixOf(by.slice(tagPrefix.length));
  return byTags(prefix, (tag) => tag.slice(prefix.length));
}
