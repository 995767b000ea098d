/** How much runs at a time: limits that all workflows share, and those of one workflow. */
import { Type } from '@fastify/type-provider-typebox';
import type { ControllerShell } from '../../controller/shell.ts';
import type { LimitState } from '../../core/resources/limits.ts';
import { DroverError } from '../../model/errors.ts';
import { bulkLimits, concurrencyLimitsMax, tagNameBytesMax, workflowTasksMax } from '../../model/limits.ts';
import { taskFields } from '../../protocol/filter/fields.ts';
import { type Filter, parseFilter } from '../../protocol/filter/language.ts';
import { ConcurrencyView, LimitList, LimitView } from '../../protocol/views/limits.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { breath } from '../query/breath.ts';
import { decodeCursor, encodeCursor } from '../query/cursor.ts';
import { planFor } from '../query/planning.ts';
import { selectTasks } from '../query/task-selection.ts';
import { workflowOf } from '../reference.ts';
import { optional } from '../render.ts';

const Name = Type.Object({ name: Type.String({ minLength: 1, maxLength: tagNameBytesMax }) });
const LimitBody = Type.Object({ max: Type.Number({ minimum: 0 }) }, { additionalProperties: false });

export function registerLimitRoutes(app: App, { shell }: ApiOptions): void {
  registerShared(app, shell);
  registerConcurrency(app, shell);
}

function registerShared(app: App, shell: ControllerShell): void {
  const viewOf = (name: string): Promise<LimitView> => shell.read(({ limits }) => renderLimit(limits.get(name)));
  app.get(
    '/api/v1/limits',
    { schema: { summary: 'List the limits that all workflows share', response: { 200: LimitList } } },
    () => shell.read(({ limits }) => ({ limits: limits.list().map(renderLimit) })),
  );
  app.get(
    '/api/v1/limits/:name',
    { schema: { summary: 'Look at a limit', params: Name, response: { 200: LimitView } } },
    async ({ params: { name } }) => {
      const isKnown = await shell.read(({ limits }) => limits.list().some((limit) => limit.name === name));
      if (!isKnown) throw new DroverError('limit-unknown', `there is no limit '${name}'`);
      return viewOf(name);
    },
  );
  app.put(
    '/api/v1/limits/:name',
    {
      schema: {
        summary: 'Set how much of something all workflows together use at a time',
        description: 'Lowering it ends nothing that runs; 0 pauses what asks for it.',
        params: Name,
        body: LimitBody,
        bodyExample: { max: 5 },
        response: { 200: LimitView },
      },
    },
    async ({ params: { name }, body: { max } }) => {
      await shell.request({ type: 'set-limit', name, max });
      return viewOf(name);
    },
  );
  app.delete(
    '/api/v1/limits/:name',
    { schema: { summary: 'Lift a limit', params: Name, response: { 200: LimitView } } },
    async ({ params: { name } }) => {
      await shell.request({ type: 'set-limit', name, max: undefined });
      return viewOf(name);
    },
  );
}

const renderLimit = ({ name, max, used, waiting }: LimitState): LimitView => ({
  name,
  ...optional('max', max),
  used,
  waiting,
});

const most = Type.Union([Type.Integer({ minimum: 0, maximum: workflowTasksMax }), Type.Null()]);
const named = Type.Record(Type.String({ minLength: 1, maxLength: 2_000 }), most, {
  maxProperties: concurrencyLimitsMax,
});
const ConcurrencyBody = Type.Object(
  {
    workflow: Type.Optional(most),
    templates: Type.Optional(named),
    tags: Type.Optional(named),
    cursor: Type.Optional(
      Type.String({ maxLength: 200, description: '`next` of the answer before: go on from there' }),
    ),
  },
  { additionalProperties: false },
);

const order = { list: 'concurrency', sort: 'id' } as const;

function registerConcurrency(app: App, shell: ControllerShell): void {
  app.patch(
    '/api/v1/workflows/:id/concurrency',
    {
      schema: {
        summary: 'Set how many tasks of a workflow, of a template, or with a tag run at a time',
        description:
          'What is not named stays; null lifts a limit, 0 pauses. Lowering one ends nothing that runs. Tasks that were added before their tag had a limit are found in bounded steps: with `next` in the answer there are more, ask again with it as `cursor`.',
        params: Reference,
        body: ConcurrencyBody,
        bodyExample: { workflow: 50, templates: { fit: 10 }, tags: { 'model=x': null } },
        response: { 200: ConcurrencyView },
      },
    },
    async ({ params, body: { cursor, ...patch } }) => {
      const workflow = workflowOf(params.id);
      const tags = Object.entries(patch.tags ?? {});
      const wrong = tags.find(([tag]) => !/^[^=]+=/.test(tag));
      if (wrong !== undefined) {
        throw new DroverError('bad-input', `tags: '${wrong[0]}' is not a tag`, { hint: 'for example model=x' });
      }
      const after = cursor === undefined ? undefined : decodeCursor(order, cursor);
      await shell.request({ type: 'set-concurrency', workflow, patch });
      const limited = tags.flatMap(([tag, max]) => (max === null ? [] : [tag]));
      const grouped = await groupMatching(shell, params.id, limited, after);
      const { concurrency = {} } = await shell.read((cluster) => cluster.workflow(workflow));
      return { ...concurrency, ...grouped };
    },
  );
}

/** Goes over the tasks once, for all tags: the position says how far. */
async function groupMatching(
  shell: ControllerShell,
  workflow: string,
  tags: readonly string[],
  from: number | undefined,
): Promise<Pick<ConcurrencyView, 'grouped' | 'next'>> {
  const until = shell.now() + bulkLimits.msMax;
  let [after, grouped] = [from, 0];
  if (tags.length === 0) return { grouped };
  const plans = await Promise.all(tags.map(async (tag) => [tag, await planFor(shell, having(workflow, tag))] as const));
  do {
    const reached: (number | undefined)[] = [];
    for (const [tag, plan] of plans) {
      const options = { after, isDescending: false, most: bulkLimits.tasksAtOnce };
      const selection = await selectTasks(shell, plan, options);
      reached.push(selection.reached);
      if (selection.tasks.length === 0) continue;
      const reply = await shell.request({ type: 'group-tasks', tag, tasks: selection.tasks });
      grouped += reply.type === 'tasks-grouped' ? reply.count : 0;
    }
    // As far as all of them have come: to group a task again changes nothing.
    const left = reached.filter((position) => position !== undefined);
    if (left.length === 0) return { grouped };
    after = Math.min(...left);
    await breath();
  } while (shell.now() < until);
  return { grouped, next: encodeCursor(order, after) };
}

/** Not by way of a text: a tag may have any name. */
function having(workflow: string, tag: string): Filter {
  const own = parseFilter(`workflow=${workflow}`, taskFields, 0);
  const at = tag.indexOf('=');
  const clause = { member: tag.slice(0, at), operator: '=', values: [tag.slice(at + 1)] } as const;
  return [...own, ...taskFields.filter(({ name }) => name === 'tag.*').map((field) => ({ field, ...clause }))];
}
