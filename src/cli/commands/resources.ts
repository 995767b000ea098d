/** `drover resources`: what tasks asked for and used, and what they should ask for. */
import { resolve } from 'node:path';
import { printRequests } from '../../definition/requests.ts';
import { DroverError, exitCodes } from '../../model/errors.ts';
import { showAtLeastBytes, showBytes, showDuration } from '../../model/units.ts';
import type { TaskResources } from '../../protocol/views/resources.ts';
import { type GroupUsage, type Most, requestsOf, usageOf } from '../../sdk/usage.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { describeOutcome, describeResources } from '../display/details.ts';
import { renderTable } from '../display/table.ts';
import { named } from '../reference.ts';

export interface ResourcesOptions extends CommonOptions {
  /** A file, or `-` for stdout. */
  readonly writeYaml?: string;
}

export function resources(context: Context, id: string, options: ResourcesOptions): Promise<number> {
  const { env } = context;
  return withClient(context, options, async (client) => {
    const { workflow, task } = named(id);
    if (task !== undefined) {
      if (options.writeYaml !== undefined) throw onlyOfWorkflows(task, workflow);
      const rows = await client.taskResources(task);
      if (options.json) await printJson(env, rows);
      else await env.stdout.write(renderRows(rows));
      return exitCodes.ok;
    }
    const usage = await usageOf(client, workflow);
    if (options.writeYaml !== undefined) return writeYaml(context, workflow, usage, options.writeYaml);
    if (options.json) for (const group of usage) await printJson(env, group);
    else await env.stdout.write(renderUsage(usage));
    return exitCodes.ok;
  });
}

const onlyOfWorkflows = (task: string, workflow: string): DroverError =>
  new DroverError('bad-input', `--write-yaml is for a workflow, and ${task} is a task`, {
    hint: `drover resources ${workflow} --write-yaml FILE`,
  });

async function writeYaml({ env }: Context, workflow: string, usage: GroupUsage[], file: string): Promise<number> {
  const requests = requestsOf(usage);
  if (Object.keys(requests).length === 0) {
    throw new DroverError('bad-input', `no task of ${workflow} has ended well: there is nothing to recommend`, {
      hint: 'ask again when some have',
    });
  }
  const text = printRequests(
    requests,
    `Recommended from what the tasks of ${workflow} have used; take it with --resources.`,
  );
  if (file === '-') await env.stdout.write(text);
  else await env.writeFile(resolve(env.cwd, file), [text]);
  return exitCodes.ok;
}

const amounts = ({ cpus, memoryBytes, runtimeMs }: Most): string =>
  [
    ...(cpus === undefined ? [] : [`${Number(cpus.toFixed(2))} cpu`]),
    ...(memoryBytes === undefined ? [] : [showAtLeastBytes(memoryBytes)]),
    ...(runtimeMs === undefined ? [] : [showDuration(runtimeMs)]),
  ].join(', ');

const titles = ['TASKS OF', 'NUMBER', 'REQUESTED', 'USED', 'FINAL', 'RAISED', 'RECOMMENDED'];

function renderUsage(usage: readonly GroupUsage[]): string {
  return renderTable(
    titles.map((title) => ({ title })),
    usage.map(({ kind, name, tasks, requested, used, final, adjusted, refused, recommended }) => [
      ...[
        kind === 'default' ? '(no template)' : name,
        String(tasks),
        amounts(requested),
        amounts(used),
        amounts(final),
      ],
      ...[`${adjusted}${refused === 0 ? '' : ` (${refused} in vain)`}`, amounts(recommended)],
    ]),
  );
}

function renderRows({ rows }: TaskResources): string {
  const lines = rows.flatMap(({ kind, number, active, resources: asked, why, attempts }) => {
    const name = `${kind}${number === undefined ? '' : ` #${number}`}`;
    const uses = attempts.map(({ attempt, outcome, wallMs, peakBytes }) => [
      ...['', attempt, outcome === undefined ? 'running' : describeOutcome(outcome)],
      [
        ...(peakBytes === undefined ? [] : [`used ${showBytes(peakBytes)}`]),
        ...(wallMs === undefined ? [] : [`took ${showDuration(wallMs)}`]),
      ].join(', '),
    ]);
    return [[name, describeResources(asked), active ? 'active' : '', why.join('; ')], ...uses];
  });
  return renderTable([{ title: 'ROW' }, { title: 'RESOURCES' }, { title: 'STATE' }, { title: 'WHY' }], lines);
}
