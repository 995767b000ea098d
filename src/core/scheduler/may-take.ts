/**
 * Whether one more attempt of a workflow with that need may be recorded now, as far as limits are concerned that are not those of a
 * worker. Who is refused waits for the limit, and is noted as a source again when something of it is given back.
 */
import type { Need } from '../../model/need.ts';
import type { Cluster } from '../cluster.ts';
import type { WorkflowRecord } from '../workflow/record.ts';

export function mayTake({ limits }: Cluster, workflow: WorkflowRecord, need: Need): boolean {
  const refusal = limits.refusalOf(workflow, need);
  if (refusal === undefined) return true;
  limits.wait(workflow, refusal);
  return false;
}
