/** `drover graph`: draws what waits for what, and how far it is. */
import { extname, resolve } from 'node:path';
import { DroverError, exitCodes } from '../../model/errors.ts';
import { graphLimits, pageRowsMax } from '../../model/limits.ts';
import { showCount } from '../../model/units.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { amount } from '../display/text.ts';
import { toDot } from '../graph/dot.ts';
import type { Drawing } from '../graph/drawing.ts';
import { type DrawnTask, draw } from '../graph/fold.ts';
import { toMermaid } from '../graph/mermaid.ts';
import { toSvg } from '../graph/svg.ts';
import { workflowNamed } from '../reference.ts';

type Format = 'mermaid' | 'dot' | 'svg';

export interface GraphOptions extends CommonOptions {
  readonly format?: Format;
  readonly byTemplate?: boolean;
  readonly all?: boolean;
  readonly output?: string;
}

const writers: Readonly<Record<Format, (drawing: Drawing) => string>> = { mermaid: toMermaid, dot: toDot, svg: toSvg };
const formatOf: Readonly<Record<string, Format>> = { '.svg': 'svg', '.dot': 'dot', '.gv': 'dot' };

export function graph(context: Context, name: string, options: GraphOptions): Promise<number> {
  const { env } = context;
  const id = workflowNamed(name);
  const format = options.format ?? formatOf[extname(options.output ?? '')] ?? 'mermaid';
  return withClient(context, options, async (client) => {
    const drawing = await drawingOf(client, id, options);
    if (options.json) {
      await printJson(env, plain(drawing));
      return exitCodes.ok;
    }
    const text = writers[format](drawing);
    if (options.output === undefined) await env.stdout.write(text);
    else {
      await env.writeFile(resolve(env.cwd, options.output), [text]);
      const { nodes, edges } = drawing;
      await env.stderr.write(
        `drover: ${options.output} has ${amount(nodes.length, 'node')}, ${amount(edges.length, 'edge')}\n`,
      );
    }
    return exitCodes.ok;
  });
}

const plain = ({ title, nodes, edges }: Drawing) => ({
  title,
  nodes: nodes.map((node) => ({ ...node, states: Object.fromEntries(node.states) })),
  edges,
});

async function drawingOf(client: Client, id: string, { byTemplate, all }: GraphOptions): Promise<Drawing> {
  const { name, state } = await client.workflow(id);
  const fields = ['id', 'index', 'name', 'command', 'state', 'template'];
  const tasks: DrawnTask[] = [];
  for await (const task of client.eachTask({ where: `workflow=${id}`, limit: pageRowsMax, fields })) {
    if (tasks.length >= graphLimits.tasksMax) {
      throw new DroverError('too-large', `${id} has more than ${showCount(graphLimits.tasksMax)} tasks`, {
        hint: 'a graph of so many is not drawn',
      });
    }
    tasks.push(task);
  }
  const edges: EdgeSpec[] = await Array.fromAsync(client.eachEdge(id, { limit: pageRowsMax }));
  const title = `${name === undefined ? id : `${id} ${name}`}: ${state}`;
  return draw(tasks, edges, { title, ...(byTemplate ? { byTemplate } : {}), ...(all ? { all } : {}) });
}
