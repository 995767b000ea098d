/** `drover import`: makes a workflow of one that was recorded elsewhere, and shows, writes, runs or submits it. */
import { resolve } from 'node:path';
import { DroverError, exitCodes } from '../../model/errors.ts';
import { wfformatBytesMax } from '../../model/limits.ts';
import { showBytes, showCount, showDuration } from '../../model/units.ts';
import type { WorkflowSpec } from '../../protocol/spec.ts';
import { submitGraph } from '../../sdk/graph-submission.ts';
import { parseInstance } from '../../wfformat/parse.ts';
import type { Instance } from '../../wfformat/schema.ts';
import { type ImportedWorkflow, toWorkflow } from '../../wfformat/to-workflow.ts';
import { type Context, inFolder, printJson, withSession } from '../context.ts';
import { renderTable } from '../display/table.ts';
import { amount } from '../display/text.ts';
import type { CliEnv } from '../environment.ts';
import { type ExecutionOptions, execute } from '../execution.ts';
import { workflowSpecOf } from '../inputs/workflow-spec.ts';

export interface ImportOptions extends ExecutionOptions {
  readonly scale: number;
  readonly memoryScale?: number;
  readonly run?: boolean;
  readonly submit?: boolean;
  readonly output?: string;
  readonly name?: string;
}

export async function importWorkflow(context: Context, file: string, options: ImportOptions): Promise<number> {
  const { env } = context;
  const instance = parseInstance(await textOf(env, file), file === '-' ? 'stdin' : file);
  const scales = { time: options.scale, ...(options.memoryScale === undefined ? {} : { memory: options.memoryScale }) };
  const workflow = toWorkflow(instance, file, scales);
  const spec: WorkflowSpec = {
    ...workflowSpecOf(env, { name: options.name ?? workflow.name }),
    attributes: workflow.attributes,
  };
  if (options.output !== undefined) await writeDefinition(env, options.output, spec, workflow);
  if (options.run) return runIt(context, spec, workflow, options);
  if (options.submit) return submitIt(context, spec, workflow, options);
  await summarise(env, instance, workflow, options);
  return exitCodes.ok;
}

async function textOf(env: CliEnv, file: string): Promise<string> {
  const path = resolve(env.cwd, file);
  if (file !== '-' && env.kindOf(path) !== 'file') {
    const what = env.kindOf(path) === 'missing' ? `no such file: ${file}` : `${file} is a directory`;
    throw new DroverError('bad-input', what, { hint: "name a file in WfFormat 1.5, or '-' for stdin" });
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of file === '-' ? env.readStdin() : env.readFile(path)) {
    size += piece.length;
    if (size > wfformatBytesMax) {
      throw new DroverError('too-large', `${file} has more than ${showBytes(wfformatBytesMax)}`, {
        hint: 'is it the right file?',
      });
    }
    pieces.push(piece);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
  } catch {
    throw new DroverError('bad-input', `${file} is not UTF-8`, { hint: 'is it the right file?' });
  }
}

function runIt(
  context: Context,
  spec: WorkflowSpec,
  workflow: ImportedWorkflow,
  options: ImportOptions,
): Promise<number> {
  const { tasks, edges } = workflow;
  return execute(context, options, inFolder(options.dir), async ({ client }, reporter, signal) => {
    reporter.registering(tasks.length);
    return { view: await submitGraph(client, { spec, tasks, edges, signal }), doneBefore: 0 };
  });
}

function submitIt(
  context: Context,
  spec: WorkflowSpec,
  { tasks, edges }: ImportedWorkflow,
  options: ImportOptions,
): Promise<number> {
  const sessionOptions = { ...inFolder(options.dir), joinsOnly: true, submits: true };
  return withSession(context, sessionOptions, async ({ client }, { signal }) => {
    const view = await submitGraph(client, { spec, tasks, edges, signal });
    if (options.json) await printJson(context.env, view);
    else await context.env.stdout.write(`${view.id}\n`);
    return exitCodes.ok;
  });
}

/** A line each, as `POST /api/v1/workflows` takes them: the workflow, then its tasks, each behind its edges. */
async function writeDefinition(
  env: CliEnv,
  output: string,
  spec: WorkflowSpec,
  { tasks, edges }: ImportedWorkflow,
): Promise<void> {
  const before = Map.groupBy(edges, ({ children: [from] }) => from);
  function* lines(): Generator<string> {
    yield `${JSON.stringify(spec)}\n`;
    for (const [at, task] of tasks.entries()) {
      for (const edge of before.get(at + 1) ?? []) yield `${JSON.stringify(edge)}\n`;
      yield `${JSON.stringify(task)}\n`;
    }
  }
  await env.writeFile(resolve(env.cwd, output), lines());
  await env.stderr.write(`drover: ${output} has ${amount(commands(tasks), 'task')}\n`);
}

const commands = (tasks: ImportedWorkflow['tasks']): number =>
  tasks.filter(({ command }) => command !== undefined).length;

interface Kind {
  readonly template: string;
  count: number;
  totalMs: number;
  maxMs: number;
}

function kindsOf({ tasks }: ImportedWorkflow): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { template, expectedDurationMs: ms = 0 } of tasks) {
    if (template === undefined) continue;
    const kind = kinds.get(template) ?? { template, count: 0, totalMs: 0, maxMs: 0 };
    kinds.set(template, kind);
    Object.assign(kind, { count: kind.count + 1, totalMs: kind.totalMs + ms, maxMs: Math.max(kind.maxMs, ms) });
  }
  return [...kinds.values()];
}

async function summarise(
  env: CliEnv,
  instance: Instance,
  workflow: ImportedWorkflow,
  options: ImportOptions,
): Promise<void> {
  const kinds = kindsOf(workflow);
  const count = commands(workflow.tasks);
  const edges = instance.workflow.specification.tasks.reduce((sum, { parents }) => sum + parents.length, 0);
  const totalMs = kinds.reduce((sum, kind) => sum + kind.totalMs, 0);
  const joins = workflow.tasks.length - count;
  if (options.json) {
    await printJson(env, { name: workflow.name, total: count, edges, joins, totalMs, templates: kinds });
    return;
  }
  const { makespanInSeconds } = instance.workflow.execution ?? {};
  const recorded =
    makespanInSeconds === undefined ? '' : `; it took ${showDuration(makespanInSeconds * 1_000)} where it was recorded`;
  await env.stdout.write(
    `${workflow.name}: ${amount(count, 'task')}, ${amount(edges, 'edge')}, ${showDuration(totalMs)} of work${recorded}\n\n`,
  );
  await env.stdout.write(
    renderTable(
      [
        { title: 'TEMPLATE' },
        { title: 'TASKS', align: 'right' },
        { title: 'WORK', align: 'right' },
        { title: 'LONGEST', align: 'right' },
      ],
      kinds.map((kind) => [kind.template, showCount(kind.count), showDuration(kind.totalMs), showDuration(kind.maxMs)]),
      env.stdout.isTerminal ? env.stdout.columns : undefined,
    ),
  );
  if (options.output === undefined)
    await env.stderr.write('drover: nothing was run; --run runs it, --submit hands it to a server\n');
}
