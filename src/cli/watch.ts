/** Follows a workflow to its end by asking for each news of it, at a bounded rate; of the end it hears at once. */
import { isEndedWorkflow } from '../model/states.ts';
import type { WorkflowView } from '../protocol/views.ts';
import type { Client } from '../sdk/client.ts';

/** Between two views: short at first, since many runs are; then at most eight a second. */
const pacesMs = { first: 25, max: 125 } as const;
/** Without news the view is fetched again after this, for the times that it shows. */
const newsWaitMs = 1_000;

export const hasEnded = ({ state }: WorkflowView): boolean => isEndedWorkflow(state);

/** `onView` sees every view, the last included. */
export async function watch(
  client: Client,
  first: WorkflowView,
  onView: (view: WorkflowView) => void,
): Promise<WorkflowView> {
  let view = first;
  let paceMs: number = pacesMs.first;
  onView(view);
  while (!hasEnded(view)) {
    view = await client.workflow(view.id, { after: view.version, waitMs: newsWaitMs, paceMs });
    paceMs = Math.min(2 * paceMs, pacesMs.max);
    onView(view);
  }
  return view;
}
