/** `drover ls` */
import { exitCodes } from '../../model/errors.ts';
import { pageRowsMax } from '../../model/limits.ts';
import { showCount, showDuration } from '../../model/units.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderTable } from '../display/table.ts';
import { showTime } from '../display/time.ts';

export interface ListOptions extends CommonOptions {
  readonly limit: number;
  readonly where?: string;
}

export function ls(context: Context, options: ListOptions): Promise<number> {
  const { env } = context;
  return withClient(context, options, async (client) => {
    const { workflows, isCut } = await newest(client, options);
    if (options.json) {
      for (const view of workflows) await printJson(env, view);
      return exitCodes.ok;
    }
    if (workflows.length === 0) await env.stderr.write("drover: no workflow here yet; start one with 'drover run'\n");
    else await env.stdout.write(renderWorkflows(workflows, env.stdout.isTerminal ? env.stdout.columns : undefined));
    if (isCut) await env.stderr.write(`drover: there are older ones; see more with --limit\n`);
    return exitCodes.ok;
  });
}

async function newest(
  client: Client,
  { limit, where }: ListOptions,
): Promise<{ workflows: readonly WorkflowView[]; isCut: boolean }> {
  const workflows: WorkflowView[] = [];
  const filter = where === undefined ? {} : { where };
  for await (const view of client.eachWorkflow({ limit: Math.min(limit + 1, pageRowsMax), ...filter })) {
    if (workflows.length === limit) return { workflows, isCut: true };
    workflows.push(view);
  }
  return { workflows, isCut: false };
}

export function renderWorkflows(workflows: readonly WorkflowView[], maxColumns?: number): string {
  return renderTable(
    [
      { title: 'ID' },
      { title: 'STATE' },
      { title: 'DONE', align: 'right' },
      { title: 'FAILED', align: 'right' },
      { title: 'STARTED' },
      { title: 'TOOK', align: 'right' },
      { title: 'NAME' },
    ],
    workflows.map(({ id, state, counts, startedAt, durationMs, name = '' }) => [
      id,
      state,
      `${showCount(counts.done)}/${showCount(counts.total)}`,
      counts.failed === 0 ? '' : showCount(counts.failed),
      startedAt === undefined ? '' : showTime(startedAt),
      startedAt === undefined ? '' : showDuration(durationMs),
      name,
    ]),
    maxColumns,
  );
}
