/** A page of workers. All of them are in memory, and a look at each is cheap. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { WorkerRecord } from '../../core/worker.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';
import { type WorkerList, WorkerView } from '../../protocol/views/workers.ts';
import { renderWorker } from '../render.ts';
import { type ListQuery, pageOf } from './list-query.ts';
import { projectionOf } from './projection.ts';
import { testOf } from './test.ts';

const names = Object.keys(WorkerView.properties) as (keyof WorkerView)[];

const workerValues: Readonly<Record<string, (worker: WorkerRecord) => FilterValue | undefined>> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  host: ({ host }) => host,
  shard: ({ shard }) => shard,
  bar: ({ bar }) => bar?.kind,
  slots: ({ slots }) => slots,
  queue: ({ capacity }) => capacity.queue,
  memory: ({ capacity }) => capacity.memoryBytes,
  gpus: ({ capacity }) => capacity.gpus ?? 0,
  attempts: ({ attempts }) => attempts.size,
  joinedAt: ({ joinedAt }) => joinedAt,
};

/** Those that are gone only where they are asked for. */
export function workerPage(
  shell: ControllerShell,
  filter: Filter,
  query: ListQuery & { readonly all?: boolean },
): Promise<WorkerList> {
  const { after, isDescending, limit, next } = pageOf('workers', query, ['id', '-id']);
  const projection = projectionOf<WorkerView>(query.fields, names);
  const withGone = query.all === true || filter.some(({ field }) => field.name === 'state' || field.name === 'id');
  const tests = filter.map((clause) => [testOf(clause), workerValues[clause.field.name]] as const);
  return shell.read((cluster, now) => {
    const matching = [...(withGone ? cluster.workers : cluster.liveWorkers).values()]
      .filter((worker) => tests.every(([test, value]) => test(value?.(worker))))
      .sort((a, b) => (isDescending ? b.id - a.id : a.id - b.id));
    const beyond = matching.filter(({ id }) => after === undefined || (isDescending ? id < after : id > after));
    const page = beyond.slice(0, limit);
    return {
      workers: page.map((worker) => projection.of(renderWorker(worker, now))),
      ...next(beyond.length > limit ? page.at(-1)?.id : undefined),
      ...(query.count ? { count: { matched: matching.length, isExact: true } } : {}),
    };
  });
}
