/** What tasks asked for and got: of one, and of all of a workflow. */
import { Type } from '@fastify/type-provider-typebox';
import type { ControllerShell } from '../../controller/shell.ts';
import { queryLimits } from '../../model/limits.ts';
import { filterTables, taskFields } from '../../protocol/filter/fields.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import { parseFilter } from '../../protocol/filter/language.ts';
import { ResourceList, TaskResources } from '../../protocol/views/resources.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { filterOf, ListQuery, pageOf } from '../query/list-query.ts';
import { planFor } from '../query/planning.ts';
import { selectTasks } from '../query/task-selection.ts';
import { taskOf, workflowOf } from '../reference.ts';
import { taskResources } from '../task-resources.ts';

const { where, limit, cursor, sort } = ListQuery.properties;
const ResourceQuery = Type.Object({ where, limit, cursor, sort });
const own = Object.keys(ResourceQuery.properties);

export function registerResourceRoutes(app: App, { shell }: ApiOptions): void {
  app.get(
    '/api/v1/tasks/:id/resources',
    {
      schema: {
        summary: 'See what a task asked for, what that came to, how it was raised, and what was used',
        params: Reference,
        response: { 200: TaskResources },
      },
    },
    async ({ params }) => {
      const task = await shell.read((cluster) => taskOf(cluster, params.id));
      const [found] = await taskResources(shell, [task]);
      return found;
    },
  );
  app.get(
    '/api/v1/workflows/:id/resources',
    {
      config: { filters: 'tasks' },
      schema: {
        summary: 'The same for all tasks of a workflow',
        params: Reference,
        querystring: ResourceQuery,
        response: { 200: ResourceList },
      },
    },
    async ({ params, query, url }) => {
      await shell.read((cluster) => cluster.workflow(workflowOf(params.id)));
      const workflow = parseFilter(`workflow=${params.id}`, taskFields, 0);
      return resourcePage(shell, [...workflow, ...filterOf(url, own, filterTables.tasks, shell.now())], query);
    },
  );
}

async function resourcePage(shell: ControllerShell, filter: Filter, query: ListQuery): Promise<ResourceList> {
  const page = pageOf('resources', query, ['id', '-id']);
  const { after, isDescending, limit: most } = page;
  const { tasks, reached } = await selectTasks(shell, await planFor(shell, filter), { after, isDescending, most });
  const views: TaskResources[] = [];
  for (let from = 0; from < tasks.length; from += queryLimits.definitionsAtOnce) {
    views.push(...(await taskResources(shell, tasks.slice(from, from + queryLimits.definitionsAtOnce))));
  }
  return { tasks: views, ...page.next(reached) };
}
