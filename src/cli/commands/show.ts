/** `drover show` */
import { DroverError, exitCodes } from '../../model/errors.ts';
import { pageRowsMax } from '../../model/limits.ts';
import { type TaskState, taskStates } from '../../model/states.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderTask, renderTasks, renderWorkflow } from '../display/details.ts';
import { renderUsage } from '../display/usage.ts';
import type { CliEnv } from '../environment.ts';
import { named } from '../reference.ts';
import { isUnicode } from '../reporter.ts';

export interface ShowOptions extends CommonOptions {
  readonly limit: number;
  readonly after?: number;
  /** Comma-separated. */
  readonly state?: string;
  readonly where?: string;
}

export function show(context: Context, name: string, options: ShowOptions): Promise<number> {
  const { workflow, task } = named(name);
  const states = options.state === undefined ? undefined : parseStates(options.state);
  return withClient(context, options, async (client) => {
    if (task === undefined) await showWorkflow(context.env, client, workflow, options, states);
    else await showTask(context.env, client, task, options);
    return exitCodes.ok;
  });
}

function parseStates(text: string): readonly TaskState[] {
  return text.split(',').map((wanted) => {
    const state = taskStates.find((known) => known === wanted.trim());
    if (state !== undefined) return state;
    throw new DroverError('bad-input', `--state: '${wanted}' is not a state of a task`, {
      hint: `the states are ${taskStates.join(', ')}`,
    });
  });
}

async function showTask(env: CliEnv, client: Client, task: string, { json }: ShowOptions): Promise<void> {
  const detail = await client.task(task);
  const last = detail.history.at(-1);
  const usage = last?.startedAt === undefined ? undefined : await client.usage(task, last.number);
  if (json) return printJson(env, { ...detail, ...(usage === undefined ? {} : { usage }) });
  const { rows } = detail.resources === undefined ? { rows: [] } : await client.taskResources(task);
  const plots = usage === undefined ? '' : renderUsage(usage, env.stdout.isTerminal && isUnicode(env), last?.peakBytes);
  await env.stdout.write(renderTask(detail, rows, plots));
}

async function showWorkflow(
  env: CliEnv,
  client: Client,
  workflow: string,
  options: ShowOptions,
  states: readonly TaskState[] | undefined,
): Promise<void> {
  const view = await client.workflow(workflow);
  const { tasks, next } = await tasksOf(client, workflow, options, states);
  if (options.json) {
    await printJson(env, { ...view, tasks, ...(next === undefined ? {} : { next }) });
    return;
  }
  const { isTerminal, columns } = env.stdout;
  await env.stdout.write(renderWorkflow(view));
  if (tasks.length > 0) await env.stdout.write(`\n${renderTasks(tasks, isTerminal ? columns : undefined)}`);
  if (next !== undefined) {
    const ofStates = states === undefined ? '' : ` --state ${states.join(',')}`;
    const filter = options.where === undefined ? ofStates : `${ofStates} --where '${options.where}'`;
    await env.stderr.write(`drover: there are more: drover show ${workflow}${filter} --after ${next}\n`);
  }
}

/** `next`: the index of the last one, where there are more. */
async function tasksOf(
  client: Client,
  workflow: string,
  { limit, after, where }: ShowOptions,
  states: readonly TaskState[] | undefined,
): Promise<{ tasks: readonly TaskView[]; next: number | undefined }> {
  const clauses = [
    ...(after === undefined ? [] : [`index>${after}`]),
    ...(states === undefined ? [] : [`state=${states.join(',')}`]),
    ...(where === undefined ? [] : [where]),
  ];
  const page = { where: [`workflow=${workflow}`, ...clauses].join('&'), limit: Math.min(limit + 1, pageRowsMax) };
  const tasks: TaskView[] = [];
  for await (const task of client.eachTask(page)) {
    if (tasks.length === limit) return { tasks, next: tasks.at(-1)?.index };
    tasks.push(task);
  }
  return { tasks, next: undefined };
}
