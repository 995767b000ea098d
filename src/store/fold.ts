/** A cluster from history alone. It must be the one that the rows give: tests and the simulator assert that. */
import { Cluster } from '../core/cluster.ts';
import type { Reader } from './store.ts';

const entriesPerRead = 10_000;

export async function foldHistory(reader: Reader): Promise<Cluster> {
  const cluster = new Cluster();
  let last = 0;
  for (;;) {
    const entries = await reader.history(last, entriesPerRead);
    for (const { seq, at, change } of entries) {
      cluster.apply(change, at);
      last = seq;
    }
    // Nobody commits what a fold changed, and taking it lets the cluster forget attempts that are over.
    cluster.takeDirty();
    if (entries.length < entriesPerRead) return cluster;
  }
}
