/**
 * The result of a run that went well, for people: what the tasks after its last barrier wrote to stdout (all tasks,
 * where there is no barrier), in order, if those are at most `resultTasksMax` and none wrote more than fits a screen
 * or two. Whatever else there is can be had with `drover logs`.
 */
import { DroverError } from '../model/errors.ts';
import { pageRowsMax } from '../model/limits.ts';
import { showBytes } from '../model/units.ts';
import type { TaskView } from '../protocol/views/tasks.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from '../sdk/client.ts';
import type { Output } from './environment.ts';

export const resultTasksMax = 10;
export const resultBytesMax = 64 * 1024;
/** Barriers are rows too, and a workflow may have a great many; such a one shows no result. */
const stageTasksMax = 3 * pageRowsMax;

/** `note` is told what was left out. */
export async function printResults(
  client: Client,
  view: WorkflowView,
  stdout: Output,
  note: (text: string) => void,
): Promise<void> {
  for (const { id } of await lastStage(client, view)) {
    const bytes = await smallOutput(client, id);
    if (typeof bytes === 'string') note(bytes);
    else if (bytes.length > 0) await stdout.write(bytes);
  }
}

/** Tasks after the last barrier, none if they are too many. */
async function lastStage(client: Client, { id, counts }: WorkflowView): Promise<readonly TaskView[]> {
  // Barriers only push indices up: the last N tasks are all beyond this one.
  const after = Math.max(0, counts.total - resultTasksMax - 1);
  const stage: TaskView[] = [];
  for await (const task of client.eachTask({ where: `workflow=${id}&index>${after}`, limit: pageRowsMax })) {
    if (stage.length >= stageTasksMax) return [];
    stage.push(task);
  }
  const lastBarrier = stage.findLastIndex(({ command }) => command === undefined);
  const last = stage.slice(lastBarrier + 1);
  const ran = last.filter(({ skipped }) => skipped === undefined);
  return ran.length <= resultTasksMax ? ran : [];
}

/** The bytes, with the line feed that a file of text ends with; or why there are none. */
async function smallOutput(client: Client, task: string): Promise<Uint8Array | string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of client.output(task, { stream: 'stdout' })) {
      pieces.push(piece);
      size += piece.length;
      if (size > resultBytesMax) return `${task} wrote more than ${showBytes(resultBytesMax)}: drover logs ${task}`;
    }
  } catch (error) {
    if (error instanceof DroverError) return `no output of ${task}: ${error.message}`;
    throw error;
  }
  const bytes = Buffer.concat(pieces);
  return bytes.length === 0 || bytes.at(-1) === 0x0a ? bytes : Buffer.concat([bytes, Buffer.from('\n')]);
}
