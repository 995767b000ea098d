/** From what a store has committed to a cluster that can decide: the start of every controller. */
import { Cluster } from '../core/cluster.ts';
import { backoffMs } from '../model/limits.ts';
import type { Reader } from './store.ts';

const backoffMsMax = Math.max(...Object.values(backoffMs).map(({ max }) => max));

/** The order matters: what a row refers to is loaded before it, and rows stand over what activation and edges gave. */
export async function loadCluster(reader: Reader, now: number): Promise<Cluster> {
  const cluster = new Cluster();
  const loading = cluster.load();
  await each(reader.workflowRows(), (row) => loading.workflow(row, now));
  await each(reader.seedRuns(), (run) => loading.tasks({ type: 'tasks-added', ...run }));
  await each(reader.edgeRows(), (row) => {
    if (row.type === 'added') loading.edges(row.edges);
    else loading.removedEdge(row.parent, row.child);
  });
  const latest = now + backoffMsMax;
  await each(reader.taskRows(), (row) =>
    // A wall clock that was set back since would make it wait for as long as that.
    loading.taskRow(row.notBefore <= latest ? row : { ...row, notBefore: latest }),
  );
  for (const { name, max } of await reader.limitRows()) cluster.limits.set(name, max);
  await each(reader.adjustmentRows(), (row) => {
    if (!row.isRefused) loading.adjustment(row);
  });
  await each(reader.groupingRows(), (row) => loading.grouping(row));
  await each(reader.workerRows(), (row) => loading.worker(row, now));
  await each(reader.openAttempts(), (row) => loading.attempt(row));
  cluster.skipAttempts(await reader.lastAttempt());
  loading.finish();
  return cluster;
}

async function each<Row>(chunks: AsyncIterable<readonly Row[]>, take: (row: Row) => void): Promise<void> {
  for await (const chunk of chunks) chunk.forEach(take);
}
