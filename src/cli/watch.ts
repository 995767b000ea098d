/** Follows a workflow to its end by asking for each news of it, at a bounded rate; of the end it hears at once. */
import { isEndedWorkflow } from '../model/states.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from '../sdk/client.ts';

/** Between two views: short at first, since many runs are. */
const firstPaceMs = 25;
/** Each view costs the controller some milliseconds, which tasks could have: as few of them as nobody would miss. */
const unseenPaceMs = 500;
/** Without news the view is fetched again after this, for the times that it shows. */
const newsWaitMs = 1_000;

export const hasEnded = ({ state }: WorkflowView): boolean => isEndedWorkflow(state);

/** `onView` sees every view, the last included; in the long run one every `longPaceMs`, while there is news. */
export async function watch(
  client: Client,
  first: WorkflowView,
  onView: (view: WorkflowView) => void,
  longPaceMs = unseenPaceMs,
): Promise<WorkflowView> {
  let view = first;
  let paceMs = firstPaceMs;
  onView(view);
  while (!hasEnded(view)) {
    view = await client.workflow(view.id, { after: view.version, waitMs: newsWaitMs, paceMs });
    paceMs = Math.min(2 * paceMs, longPaceMs);
    onView(view);
  }
  return view;
}
