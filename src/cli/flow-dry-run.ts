/** What `--dry-run` prints of a definition: the tasks that there would be, and what each runs after. */
import type { Flow } from '../definition/compile.ts';
import { exitCodes } from '../model/errors.ts';
import type { EdgeSpec } from '../protocol/spec.ts';
import { amount, printable } from './display/text.ts';
import type { CliEnv } from './environment.ts';

interface DryRunOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

export async function dryRunFlow(env: CliEnv, flow: Flow, { json, quiet }: DryRunOptions): Promise<number> {
  let size = 0;
  for (const { tasks, edges, outside = [] } of flow.batches()) {
    const parents: string[][] = tasks.map(() => []);
    const note = ({ children }: Pick<EdgeSpec, 'children'>, text: string): void => {
      for (let child = children[0]; child <= children[1]; child++) parents[child - size - 1]?.push(text);
    };
    for (const edge of edges) note(edge, `${span(edge.parents)}${condition(edge.after)}`);
    for (const edge of outside) note(edge, `${edge.workflow}:${edge.task}${condition(edge.after)}`);
    const lines = tasks.map((task, at) => {
      const index = size + at + 1;
      const after = parents[at] ?? [];
      if (json) return `${JSON.stringify({ index, ...task, after })}\n`;
      const what = task.command === undefined ? '--- join ---' : printable(task.command);
      const named = task.name === undefined ? '' : `${printable(task.name)}: `;
      const waits = after.length === 0 ? '' : `   # after ${printable(after.join(', '))}`;
      return `${String(index).padStart(6)}  ${named}${what}${waits}\n`;
    });
    size += tasks.length;
    if (!(await env.stdout.write(lines.join('')))) return exitCodes.ok;
  }
  const joins = size - flow.commands;
  if (json) await env.stdout.write(`${JSON.stringify({ dryRun: true, total: flow.commands, joins })}\n`);
  else if (!quiet) {
    await env.stderr.write(`${amount(flow.commands, 'task')}, ${amount(joins, 'join')}; nothing was run\n`);
  }
  return exitCodes.ok;
}

const span = ([from, to]: readonly [number, number]): string => (from === to ? String(from) : `${from}-${to}`);
const condition = (after: EdgeSpec['after']): string => (after === 'success' ? '' : ` (${after})`);
