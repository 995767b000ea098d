/** Why a task, or a workflow, waits. */
import { TaskWhyView, WorkflowWhyView } from '../../protocol/views/why.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { taskOf, workflowOf } from '../reference.ts';
import { taskWhy, workflowWhy } from '../why/why.ts';

export function registerWhyRoutes(app: App, { shell }: ApiOptions): void {
  app.get(
    '/api/v1/tasks/:id/why',
    {
      schema: {
        summary: 'Tell what a task waits for, or how it ended',
        params: Reference,
        response: { 200: TaskWhyView },
      },
    },
    async ({ params }) => taskWhy(shell, await shell.read((cluster) => taskOf(cluster, params.id))),
  );
  app.get(
    '/api/v1/workflows/:id/why',
    {
      schema: {
        summary: 'Group the tasks of a workflow that have not ended by what they wait for',
        params: Reference,
        response: { 200: WorkflowWhyView },
      },
    },
    ({ params }) => workflowWhy(shell, workflowOf(params.id)),
  );
}
