/** Continuations are added and removed by resources of their own, many at a time or one; the field is read-only. */
import type { ControllerShell } from '../../controller/shell.ts';
import { DroverError } from '../../model/errors.ts';
import { ContinuationsBody } from '../../protocol/http-worker.ts';
import { type App, Reference } from '../app.ts';
import { taskOf } from '../reference.ts';
import { detailOf } from './tasks.ts';

export function registerContinuationRoutes(app: App, shell: ControllerShell): void {
  for (const verb of ['add', 'remove'] as const) {
    for (const noun of ['continuation', 'continuations']) {
      app.route({
        method: ['POST', 'PATCH'],
        url: `/api/v1/tasks/:id/${verb}_${noun}`,
        schema: {
          summary: verb === 'add' ? 'Let tasks wait for a task' : 'Let tasks no longer wait for a task',
          params: Reference,
          body: ContinuationsBody,
        },
        handler: async ({ params, body }) => {
          const { id } = params as { id: string };
          await change(shell, verb, id, body as ContinuationsBody);
          return detailOf(shell, id);
        },
      });
    }
  }
}

async function change(
  shell: ControllerShell,
  verb: 'add' | 'remove',
  name: string,
  { continuation, continuations = [], after = 'success' }: ContinuationsBody,
): Promise<void> {
  const names = continuation === undefined ? continuations : [continuation, ...continuations];
  if (names.length === 0) {
    throw new DroverError('bad-input', 'no continuation is named', { hint: 'give continuations, a list of tasks' });
  }
  const { task, children } = await shell.read((cluster) => ({
    task: taskOf(cluster, name),
    children: names.map((one) => taskOf(cluster, one)),
  }));
  await shell.request(
    verb === 'add'
      ? { type: 'add-continuations', task, continuations: children, after }
      : { type: 'remove-continuations', task, continuations: children },
  );
}
