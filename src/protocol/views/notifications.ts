/** What readers of the API see of whom a workflow tells what becomes of it. */
import { type Static, Type } from 'typebox';
import { count, oneOf, time } from '../schema.ts';
import { Notification } from '../spec.ts';

export const NoticeView = Type.Object({
  id: Type.String(),
  /** Of the workflow: each is told once for each run. */
  run: count,
  at: time,
  state: oneOf(['pending', 'delivered', 'given-up']),
  tries: count,
  nextTryAt: Type.Optional(time),
  settledAt: Type.Optional(time),
  /** What went wrong last. */
  error: Type.Optional(Type.String()),
});

export const NotificationList = Type.Object({
  notifications: Type.Array(
    Type.Object({
      on: Notification.properties.on,
      /** Its origin only: the rest may be a secret. */
      webhook: Type.String(),
      isSigned: Type.Boolean(),
      notices: Type.Array(NoticeView),
    }),
  ),
});
export type NotificationList = Static<typeof NotificationList>;
