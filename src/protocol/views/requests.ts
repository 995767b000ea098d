/**
 * What goes for any request: the version of the API, how one is repeated, and how it is refused. In any answer, what is not
 * there is absent, never null.
 */
import { type Static, Type } from 'typebox';

export const apiVersion = 1;

/** Names a request, so that it can be repeated without harm. */
export const idempotencyHeader = 'idempotency-key';

export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.String(),
    message: Type.String(),
    hint: Type.String(),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
});
export type ErrorBody = Static<typeof ErrorBody>;
