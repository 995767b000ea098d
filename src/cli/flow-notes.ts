/** What the user is told of a definition that was submitted. */

import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { FlowSubmission } from '../sdk/flow-submission.ts';
import { amount } from './display/text.ts';
import { notesOf } from './submission-notes.ts';

const endOf = ({ state, counts }: WorkflowView): string =>
  state === 'done' ? 'all of it is done' : `has ended, with ${amount(counts.cancelled, 'task')} cancelled`;

export function flowNotes(
  { view, outcome, comparison, warnings }: FlowSubmission,
  update: string | undefined,
): string[] {
  const { id, state, counts } = view;
  const left = `${amount(counts.done, 'task')} of ${counts.total} done`;
  const asBefore = 'It goes on as it was submitted: changed resources or retries count with --update';
  switch (outcome) {
    case 'new':
      return notesOf(
        { tasks: counts.total, skipped: 0, warnings, ...(comparison === undefined ? {} : { comparison }) },
        update,
      );
    case 'attached':
      return [`drover: ${id} is the same workflow and is ${state}, ${left}. ${asBefore}`];
    case 'resumed':
      return [`drover: going on with ${id}, the same workflow, ${left}. ${asBefore}`];
    case 'done':
      return [`drover: ${id} is the same workflow, and ${endOf(view)}; --fresh runs it again`];
  }
}
