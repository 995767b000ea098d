/** The lists: workflows, tasks, attempts, workers, events. Each is a page of what its filter lets through. */
import { Type } from '@fastify/type-provider-typebox';
import { longPollMsMax, pageRowsMax } from '../../model/limits.ts';
import { eventFields, type FilteredList, filterTables, taskFields } from '../../protocol/filter/fields.ts';
import { type Filter, parseFilter } from '../../protocol/filter/language.ts';
import { AttemptList } from '../../protocol/views/attempts.ts';
import { EventList } from '../../protocol/views/events.ts';
import { TaskList } from '../../protocol/views/tasks.ts';
import { WorkerList } from '../../protocol/views/workers.ts';
import { WorkflowList } from '../../protocol/views/workflows.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { attemptPage } from '../query/attempts.ts';
import { eventPage } from '../query/events.ts';
import { filterOf, ListQuery, listParameters } from '../query/list-query.ts';
import { taskPage } from '../query/tasks.ts';
import { workerPage } from '../query/workers.ts';
import { workflowPage } from '../query/workflows.ts';
import { workflowOf } from '../reference.ts';

export function registerListRoutes(app: App, { shell }: ApiOptions): void {
  const asked = (list: FilteredList, url: string, own = listParameters): Filter =>
    filterOf(url, own, filterTables[list], shell.now());
  const querystring = ListQuery;

  app.get(
    '/api/v1/workflows',
    {
      config: { filters: 'workflows' },
      schema: { summary: 'List workflows, the newest first', querystring, response: { 200: WorkflowList } },
    },
    (request) => workflowPage(shell, asked('workflows', request.url), request.query),
  );
  app.get(
    '/api/v1/tasks',
    {
      config: { filters: 'tasks' },
      schema: { summary: 'List tasks of all workflows', querystring, response: { 200: TaskList } },
    },
    (request) => taskPage(shell, asked('tasks', request.url), request.query),
  );
  app.get(
    '/api/v1/workflows/:id/tasks',
    {
      config: { filters: 'tasks' },
      schema: { summary: 'List the tasks of a workflow', params: Reference, querystring, response: { 200: TaskList } },
    },
    async (request) => {
      const { id } = request.params;
      await shell.read((cluster) => cluster.workflow(workflowOf(id)));
      const own = parseFilter(`workflow=${id}`, taskFields, 0);
      return taskPage(shell, [...own, ...asked('tasks', request.url)], request.query);
    },
  );
  app.get(
    '/api/v1/attempts',
    {
      config: { filters: 'attempts' },
      schema: { summary: 'List attempts of all tasks', querystring, response: { 200: AttemptList } },
    },
    (request) => attemptPage(shell, asked('attempts', request.url), request.query),
  );
  const WorkerQuery = Type.Object({
    ...ListQuery.properties,
    all: Type.Optional(Type.Boolean({ description: 'those that are gone, too' })),
  });
  app.get(
    '/api/v1/workers',
    {
      config: { filters: 'workers' },
      schema: { summary: 'List workers', querystring: WorkerQuery, response: { 200: WorkerList } },
    },
    (request) => workerPage(shell, asked('workers', request.url, [...listParameters, 'all']), request.query),
  );
  registerEvents(app, shell);
}

function registerEvents(app: App, shell: ApiOptions['shell']): void {
  const EventQuery = Type.Object({
    where: Type.Optional(Type.String({ description: 'a filter, percent-encoded as a whole' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: pageRowsMax, description: 'events of a page' })),
    cursor: Type.Optional(
      Type.String({
        maxLength: 40,
        description: '`next` of the page before, or the number of the last event that is known; `now`: only what comes',
      }),
    ),
    waitMs: Type.Optional(
      Type.Integer({ minimum: 0, maximum: longPollMsMax, description: 'how long to wait for one, if there is none' }),
    ),
  });
  const own = Object.keys(EventQuery.properties);
  app.get(
    '/api/v1/events',
    {
      config: { filters: 'events' },
      schema: {
        summary: 'Read the history, or wait for what happens next',
        querystring: EventQuery,
        response: { 200: EventList },
      },
    },
    (request) => eventPage(shell, filterOf(request.url, own, eventFields, shell.now()), request.query),
  );
}
