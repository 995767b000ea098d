/** Operations on all tasks that a filter lets through. */
import { Type } from '@fastify/type-provider-typebox';
import { type SteeringVerb, steeringVerbs } from '../../core/task/steering.ts';
import { DroverError } from '../../model/errors.ts';
import { queryLimits } from '../../model/limits.ts';
import { taskFields } from '../../protocol/filter/fields.ts';
import { type Filter, parseFilter } from '../../protocol/filter/language.ts';
import { Priority } from '../../protocol/spec.ts';
import { BulkResult } from '../../protocol/views/tasks.ts';
import type { ApiOptions, App } from '../app.ts';
import { steerMatching } from '../query/bulk.ts';

const common = {
  where: Type.Optional(Type.String({ maxLength: queryLimits.whereCharactersMax, description: 'a filter on tasks' })),
  all: Type.Optional(Type.Literal(true, { description: 'all tasks are meant: needed where there is no filter' })),
  dryRun: Type.Optional(Type.Boolean({ description: 'only count' })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next` of the answer before: go on from there' })),
};
const options = { additionalProperties: false } as const;
const Body = Type.Object(common, options);
const PriorityBody = Type.Object({ ...common, priority: Priority }, options);

const summaries: Readonly<Record<SteeringVerb, string>> = {
  cancel: 'End all tasks that match for good',
  retry: 'Try all tasks that match again',
  hold: 'Keep all tasks that match from being started',
  release: 'Let all held tasks that match start',
  priority: 'Give all tasks that match another priority',
};
const description =
  'Goes once over the tasks, in bounded turns. `refused` counts by state those that the change is not allowed for, or that left the states asked for meanwhile. With `next` in the answer there is more to do: ask again with it as `cursor`.';

export function registerBulkRoutes(app: App, { shell }: ApiOptions): void {
  for (const verb of steeringVerbs) {
    const isPriority = verb === 'priority';
    const bodyExample = { where: 'state=queued&tag.model=x', dryRun: true, ...(isPriority ? { priority: 10 } : {}) };
    const body = (isPriority ? PriorityBody : Body) as typeof PriorityBody;
    app.post(
      `/api/v1/tasks/bulk/${verb}`,
      { schema: { summary: summaries[verb], description, body, bodyExample, response: { 200: BulkResult } } },
      ({ body: { where = '', all, dryRun = false, cursor, priority } }) => {
        const steering = isPriority ? { verb, priority } : { verb };
        return steerMatching(shell, filterOf(where, all, shell.now()), steering, { isDryRun: dryRun, cursor });
      },
    );
  }
}

/** Without a clause it would be every task there is; who means that says so. */
function filterOf(where: string, all: true | undefined, now: number): Filter {
  const filter = parseFilter(where, taskFields, now);
  if (filter.length > 0 || all) return filter;
  throw new DroverError('bad-filter', 'the filter is empty: that is every task of every workflow', {
    hint: "name what is meant in 'where', or say 'all': true",
  });
}
