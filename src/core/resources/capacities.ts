/** How large the queues are, as adjusting asks. */
import type { Cluster } from '../cluster.ts';
import { amountIn, type Capacities } from './adjusting.ts';
import { capacityOfQueue, couldHold } from './queues.ts';

export const capacitiesOf = (cluster: Cluster, now: number): Capacities => ({
  lacksOf: (need) => {
    const holding = couldHold(cluster, need, now);
    return holding.ok ? undefined : holding.lacks;
  },
  most: (queue, resource) => {
    const capacity = capacityOfQueue(cluster, queue, now);
    return capacity === undefined ? 0 : amountIn(capacity, resource);
  },
});
