/** Statistics, and how tasks failed. */
import { Type } from '@fastify/type-provider-typebox';
import type { RingName } from '../../controller/statistics/rates.ts';
import { rings } from '../../controller/statistics/rates.ts';
import { queryLimits, statisticsLimits } from '../../model/limits.ts';
import { taskFields } from '../../protocol/filter/fields.ts';
import { parseFilter } from '../../protocol/filter/language.ts';
import { oneOf } from '../../protocol/schema.ts';
import { FailureList, StatisticsView } from '../../protocol/views/statistics.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { failuresOf } from '../failures.ts';
import { workflowOf } from '../reference.ts';
import { optional } from '../render.ts';
import { statisticsOf } from '../statistics/statistics.ts';

const ringNames = rings.map(({ name }) => name) as [RingName, ...RingName[]];

const StatisticsQuery = Type.Object({
  where: Type.Optional(
    Type.String({ maxLength: queryLimits.whereCharactersMax, description: 'a filter on tasks, percent-encoded' }),
  ),
  by: Type.Optional(
    Type.String({
      pattern: '^(template|worker|host|tag|tag:.{1,100})$',
      description:
        'also by groups: `template`, `worker`, `host`, `tag:NAME`, or `tag` for all tags, where a task is in the group of each of its own',
    }),
  ),
  // Of rates; by default the finest that goes back to the start.
  interval: Type.Optional(oneOf(ringNames)),
  waitMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: statisticsLimits.waitMsMax,
      description: 'how long to wait while what ended before a restart is being read',
    }),
  ),
});

export function registerStatisticsRoutes(app: App, { shell }: ApiOptions): void {
  const response = { 200: StatisticsView };
  app.get(
    '/api/v1/statistics',
    { schema: { summary: 'Sum up tasks of all workflows', querystring: StatisticsQuery, response } },
    async ({ query: { where, by, interval, waitMs = 0 } }) => {
      const filter = parseFilter(where ?? '', taskFields, shell.now());
      return { ...optional('where', where), ...(await statisticsOf(shell, { filter, by, interval, waitMs })) };
    },
  );
  app.get(
    '/api/v1/workflows/:id/statistics',
    {
      schema: { summary: 'Sum up the tasks of a workflow', params: Reference, querystring: StatisticsQuery, response },
    },
    async ({ params: { id }, query: { where, by, interval, waitMs = 0 } }) => {
      await shell.read((cluster) => cluster.workflow(workflowOf(id)));
      const own = parseFilter(`workflow=${id}`, taskFields, 0);
      const filter = [...own, ...parseFilter(where ?? '', taskFields, shell.now())];
      const found = await statisticsOf(shell, { filter, by, interval, waitMs });
      return { workflow: id, ...optional('where', where), ...found };
    },
  );
  const FailureQuery = Type.Object({
    by: Type.Optional(Type.Literal('host', { description: 'groups are told apart by host, too' })),
  });
  app.get(
    '/api/v1/workflows/:id/failures',
    {
      schema: {
        summary: 'Group the failed tasks of a workflow by how they failed',
        params: Reference,
        querystring: FailureQuery,
        response: { 200: FailureList },
      },
    },
    ({ params, query }) => failuresOf(shell, workflowOf(params.id), { isByHost: query.by === 'host' }),
  );
}
