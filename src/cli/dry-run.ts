/** What `--dry-run` prints: the tasks that there would be. */
import { exitCodes } from '../model/errors.ts';
import type { SubmissionItem } from '../sdk/submission.ts';
import { amount, barrierText, printable } from './display/text.ts';
import type { CliEnv } from './environment.ts';
import type { Inputs } from './inputs/inputs.ts';

interface DryRunOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** Lines are gathered up to this size: a write each would take most of the time. */
const writeCharsMin = 64 * 1024;

/** Each task with the index that it would have; barriers have one too. */
export async function dryRun(
  env: CliEnv,
  items: Inputs['items'],
  remarks: Inputs['remarks'],
  { json, quiet }: DryRunOptions,
): Promise<number> {
  let index = 0;
  let tasks = 0;
  let text = '';
  for await (const item of items) {
    index += 1;
    if ('command' in item) tasks += 1;
    text += json ? `${JSON.stringify({ index, ...item })}\n` : dryLine(index, item);
    if (text.length < writeCharsMin) continue;
    if (!(await env.stdout.write(text))) return exitCodes.ok;
    text = '';
  }
  const barriers = index - tasks;
  if (json) text += `${JSON.stringify({ dryRun: true, total: tasks, barriers })}\n`;
  await env.stdout.write(text);
  const counted = `${amount(tasks, 'task')}, ${amount(barriers, 'barrier')}; nothing was run\n`;
  for (const remark of remarks(tasks)) await env.stderr.write(`${remark}\n`);
  if (!json && !quiet) await env.stderr.write(counted);
  return exitCodes.ok;
}

function dryLine(index: number, item: SubmissionItem): string {
  const text =
    'command' in item
      ? `${printable(item.command)}${item.skipped === undefined ? '' : `   # skipped: ${printable(item.skipped)}`}`
      : item.check
        ? '--- barrier, if all before it succeeded ---'
        : barrierText;
  return `${String(index).padStart(6)}  ${text}\n`;
}
