/** A cluster from history alone. It must be the one that the rows give: tests and the simulator assert that. */
import { Cluster } from '../core/cluster.ts';
import type { Reader } from './store.ts';

const entriesPerReadDefault = 10_000;

export async function foldHistory(reader: Reader, entriesPerRead = entriesPerReadDefault): Promise<Cluster> {
  const cluster = new Cluster();
  let last = { seq: 0, at: 0 };
  let untaken = 0;
  for (;;) {
    const entries = await reader.history(last.seq, entriesPerRead);
    for (const { seq, at, change } of entries) {
      // Nobody commits what a fold changed, and taking it lets the cluster forget attempts that are over: between two
      // turns only, since within one an attempt may be recorded and its task not know it yet.
      if (untaken >= entriesPerRead && at !== last.at) {
        cluster.takeDirty();
        untaken = 0;
      }
      cluster.apply(change, at);
      untaken++;
      last = { seq, at };
    }
    if (entries.length < entriesPerRead) break;
  }
  cluster.takeDirty();
  return cluster;
}
