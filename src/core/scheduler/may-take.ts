/**
 * Whether one more attempt of a workflow with that need may be recorded now, as far as limits are concerned that are not those of a
 * worker. Who is refused is looked at again when it is noted as a source again (`Cluster.noteSource`, `noteSources`).
 */
import type { Need } from '../../model/need.ts';
import type { Cluster } from '../cluster.ts';
import type { WorkflowRecord } from '../workflow/record.ts';

export function mayTake(_cluster: Cluster, _workflow: WorkflowRecord, _need: Need): boolean {
  return true;
}
