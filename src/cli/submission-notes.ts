/** What the user is told of tasks that were submitted and need not run, or can't. */
import { showCount } from '../model/units.ts';
import type { Submission } from '../sdk/submission.ts';
import { amount, printable } from './display/text.ts';

/** `update`: the workflow that it was to be compared with. */
export function notesOf({ skipped, comparison, warnings }: Submission, update: string | undefined): string[] {
  const notes: string[] = [];
  if (skipped > 0) notes.push(`drover: ${amount(skipped, 'task')} skipped: what they make is there`);
  if (comparison !== undefined) {
    const { unchanged, again, fresh } = comparison;
    notes.push(
      `drover: unchanged since ${printable(update ?? '')}: ${showCount(unchanged)}; new or changed: ${showCount(fresh)}; not done there: ${showCount(again)}`,
    );
  } else if (update !== undefined)
    notes.push(`drover: no workflow is named ${printable(update)} yet: all tasks are new`);
  for (const warning of warnings) notes.push(`drover: warning: ${printable(warning)}`);
  return notes;
}
