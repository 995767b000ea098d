/** From what a store has committed to a cluster that can decide: the start of every controller. */
import { Cluster } from '../core/cluster.ts';
import { backoffMs } from '../model/limits.ts';
import type { Reader } from './store.ts';

const backoffMsMax = Math.max(...Object.values(backoffMs).map(({ max }) => max));

/** The order matters: what a row refers to is loaded before it, and rows stand over what activation and edges gave. */
export async function loadCluster(reader: Reader, now: number): Promise<Cluster> {
  const cluster = new Cluster();
  await each(reader.workflowRows(), (row) => cluster.loadWorkflow(row, now));
  await each(reader.seedRuns(), (run) => cluster.loadTasks({ type: 'tasks-added', ...run }));
  await each(reader.edgeRows(), (row) => {
    if (row.type === 'added') cluster.loadEdges(row.edges);
    else cluster.loadRemovedEdge(row.parent, row.child);
  });
  const latest = now + backoffMsMax;
  await each(reader.taskRows(), (row) =>
    // A wall clock that was set back since would make it wait for as long as that.
    cluster.loadTaskRow(row.notBefore <= latest ? row : { ...row, notBefore: latest }),
  );
  for (const { name, max } of await reader.limitRows()) cluster.limits.set(name, max);
  await each(reader.adjustmentRows(), (row) => {
    if (!row.isRefused) cluster.loadAdjustment(row);
  });
  await each(reader.groupingRows(), (row) => cluster.loadGrouping(row));
  await each(reader.workerRows(), (row) => cluster.loadWorker(row, now));
  await each(reader.openAttempts(), (row) => cluster.loadAttempt(row));
  cluster.lastAttempt = await reader.lastAttempt();
  cluster.finishLoading();
  return cluster;
}

async function each<Row>(chunks: AsyncIterable<readonly Row[]>, take: (row: Row) => void): Promise<void> {
  for await (const chunk of chunks) chunk.forEach(take);
}
