/** What the tasks of a workflow asked for and used, by template or name; and what they should ask for next time. */

import type { Requests } from '../definition/requests.ts';
import type { NeedWords } from '../definition/schema.ts';
import { requestsMax } from '../model/limits.ts';
import { Recommendation, type Recommended } from '../model/recommendation.ts';
import { printBytes, printDurationMs } from '../model/units.ts';
import type { TaskResources } from '../protocol/views/resources.ts';
import type { Client } from './client.ts';

/** The most that one of several tasks has of each. */
export interface Most {
  cpus?: number;
  memoryBytes?: number;
  runtimeMs?: number;
}

export interface GroupUsage {
  readonly kind: 'template' | 'task' | 'default';
  readonly name: string;
  tasks: number;
  /** Rows that were adjusted: attempts that ran out of something and were tried again with more. */
  adjusted: number;
  /** What it would have needed and could not get. */
  refused: number;
  readonly requested: Most;
  readonly final: Most;
  readonly used: Most;
  readonly recommended: Recommended;
}

type Measured = Omit<GroupUsage, 'recommended'> & { readonly recommendation: Recommendation };

/** Tasks without a template and a name are of one group, and so is what is beyond the limit of groups. */
const defaultKey = '';
/** `align[a,x]` is of the array `align`. */
const arrayName = /\[[^[\]]*\]$/;

export async function usageOf(client: Client, workflow: string): Promise<GroupUsage[]> {
  const groups = new Map<string, Measured>();
  const names = client.eachTask({ where: `workflow=${workflow}`, fields: ['id', 'name', 'template'] });
  for await (const resources of client.eachResources(workflow)) {
    // Both lists are in the order of the tasks; joins are in the other one only.
    let task = await names.next();
    while (!task.done && task.value.id !== resources.task) task = await names.next();
    const { name, template } = task.done ? {} : task.value;
    count(groupOf(groups, template, name?.replace(arrayName, '')), resources);
  }
  return [...groups.values()].map(({ recommendation, ...group }) => ({ ...group, recommended: recommendation.result }));
}

function groupOf(groups: Map<string, Measured>, template: string | undefined, name: string | undefined): Measured {
  const wanted = template !== undefined ? `template ${template}` : name !== undefined ? `task ${name}` : defaultKey;
  const key = groups.has(wanted) || groups.size < requestsMax ? wanted : defaultKey;
  let group = groups.get(key);
  if (group === undefined) {
    const kind = key === defaultKey ? 'default' : template !== undefined ? 'template' : 'task';
    group = {
      ...{ kind, name: kind === 'default' ? '' : (template ?? name ?? ''), tasks: 0, adjusted: 0, refused: 0 },
      ...{ requested: {}, final: {}, used: {}, recommendation: new Recommendation() },
    };
    groups.set(key, group);
  }
  return group;
}

function count(group: Measured, { rows }: TaskResources): void {
  group.tasks += 1;
  for (const { kind, active, resources, attempts } of rows) {
    if (kind === 'validated') raise(group.requested, resources);
    if (kind === 'adjusted') group.adjusted += 1;
    if (kind === 'refused') group.refused += 1;
    if (active) raise(group.final, resources);
    for (const { outcome, wallMs, cpuMs = 0, peakBytes } of attempts) {
      if (wallMs === undefined) continue;
      const cpus = wallMs === 0 ? 0 : cpuMs / wallMs;
      raise(group.used, { cpus, runtimeMs: wallMs, ...(peakBytes === undefined ? {} : { memoryBytes: peakBytes }) });
      if (outcome?.kind === 'succeeded') group.recommendation.add(wallMs, cpuMs, peakBytes, resources);
    }
  }
}

function raise(most: Most, { cpus, memoryBytes, runtimeMs }: Most): void {
  for (const [name, value] of Object.entries({ cpus, memoryBytes, runtimeMs })) {
    const field = name as keyof Most;
    if (value !== undefined) most[field] = Math.max(most[field] ?? 0, value);
  }
}

/** In the words of a file of requests; without groups of which nothing has ended well. */
export function requestsOf(groups: readonly GroupUsage[]): Requests {
  const templates: Record<string, NeedWords> = {};
  const tasks: Record<string, NeedWords> = {};
  let all: NeedWords | undefined;
  for (const { kind, name, recommended } of groups) {
    const words = wordsOf(recommended);
    if (Object.keys(words).length === 0) continue;
    if (kind === 'template') templates[name] = words;
    else if (kind === 'task') tasks[name] = words;
    else all = words;
  }
  return {
    ...(all === undefined ? {} : { default: all }),
    ...(Object.keys(templates).length === 0 ? {} : { templates }),
    ...(Object.keys(tasks).length === 0 ? {} : { tasks }),
  };
}

const wordsOf = ({ cpus, memoryBytes, runtimeMs }: Recommended): NeedWords => ({
  ...(cpus === undefined ? {} : { cpus }),
  ...(memoryBytes === undefined ? {} : { memory: printBytes(memoryBytes) }),
  ...(runtimeMs === undefined ? {} : { walltime: printDurationMs(runtimeMs) }),
});
