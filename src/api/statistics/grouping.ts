/** By what groups are told apart: which of a workflow's cells are which group, and which group a task or an attempt is of. */

import type { Cell } from '../../controller/statistics/cell.ts';
import type { Statistics } from '../../controller/statistics/statistics.ts';
import { other, type TagSet } from '../../controller/statistics/tag-sets.ts';
import type { Place, WorkflowCells } from '../../controller/statistics/workflow-cells.ts';
import type { Cluster } from '../../core/cluster.ts';
import { printWorker, type TaskId, type WorkerId } from '../../model/ids.ts';

export interface Grouping {
  cellsOf(cells: WorkflowCells, cluster: Cluster): Iterable<readonly [name: string, cell: Cell]>;
  groupOf(place: Place, cluster: Cluster): string;
  /** Where tasks have a group before they run. */
  readonly ofTask?: (statistics: Statistics, task: TaskId) => string;
}

const workerName = (worker: WorkerId | 0): string => (worker === 0 ? other : printWorker(worker));
const hostName = (worker: WorkerId | 0, { workers }: Cluster): string =>
  worker === 0 ? other : (workers.get(worker)?.host ?? other);

const fixed: Readonly<Record<string, Grouping>> = {
  template: {
    cellsOf: (cells) => cells.templates,
    groupOf: ({ template }) => template,
    ofTask: (statistics, task) => statistics.templateOf(task),
  },
  worker: {
    cellsOf: (cells) => [...cells.workers].map(([worker, cell]) => [workerName(worker), cell] as const),
    groupOf: ({ worker }) => printWorker(worker),
  },
  host: {
    cellsOf: (cells, cluster) => [...cells.workers].map(([worker, cell]) => [hostName(worker, cluster), cell] as const),
    groupOf: ({ worker }, cluster) => hostName(worker, cluster),
  },
};

const tagPrefix = 'tag:';

/** `by` is as the schema of the route has it. */
export function groupingBy(by: string): Grouping {
  const known = fixed[by];
  if (known !== undefined) return known;
  const prefix = `${by.slice(tagPrefix.length)}=`;
  const valueIn = (tags: TagSet): string => tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length) ?? '';
  return {
    *cellsOf(cells) {
      for (const [tag, cell] of cells.tags) {
        if (tag.startsWith(prefix)) yield [tag.slice(prefix.length), cell];
      }
    },
    groupOf: ({ tags }) => valueIn(tags),
    ofTask: (statistics, task) => valueIn(statistics.tags.of(task)),
  };
}
