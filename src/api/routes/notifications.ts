import type { ControllerShell } from '../../controller/shell.ts';
import type { WorkflowId } from '../../model/ids.ts';
import { NotificationList } from '../../protocol/views/notifications.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import { workflowOf } from '../reference.ts';

export function registerNotificationRoutes(app: App, { shell }: ApiOptions): void {
  app.get(
    '/api/v1/workflows/:id/notifications',
    {
      schema: {
        summary: 'Look at whom a workflow tells what, and how far that has come',
        params: Reference,
        response: { 200: NotificationList },
      },
    },
    ({ params }) => notificationsOf(shell, workflowOf(params.id)),
  );
}

/** Of a webhook only its origin is shown: what follows it is often as good as a password. */
async function notificationsOf(shell: ControllerShell, workflow: WorkflowId): Promise<NotificationList> {
  await shell.read((cluster) => cluster.workflow(workflow));
  const rules = (await shell.store.workflowSpec(workflow))?.notify ?? [];
  return shell.read(() => {
    const rows = [...shell.controller.notices.rows].filter((row) => row.workflow === workflow);
    return {
      notifications: rules.map(({ on, webhook, secret }, rule) => ({
        on,
        webhook: new URL(webhook).origin,
        isSigned: secret !== undefined,
        notices: rows
          .filter((row) => row.rule === rule)
          .map(({ id, run, at, state, tries, dueAt, error }) => ({
            ...{ id: `n${id}`, run, at: iso(at), state, tries },
            ...(state === 'pending' ? { nextTryAt: iso(dueAt) } : { settledAt: iso(dueAt) }),
            ...(error === undefined ? {} : { error }),
          })),
      })),
    };
  });
}

const iso = (time: number): string => new Date(time).toISOString();
