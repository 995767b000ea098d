/** How large the queues are, by their live workers. */
import { defaultQueue } from '../../model/need.ts';
import type { Cluster } from '../cluster.ts';
import type { Capacities } from './adjusting.ts';

export function capacitiesOf({ liveWorkers }: Cluster): Capacities {
  return {
    couldHold: (queue, { cpus }) =>
      queue === defaultQueue && [...liveWorkers.values()].some(({ slots }) => slots >= cpus),
    most: () => Number.POSITIVE_INFINITY,
  };
}
