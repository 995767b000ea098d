/** What readers of the API see of tokens. */
import { type Static, Type } from 'typebox';
import { tokenRoles } from '../../model/tokens.ts';
import { oneOf, time } from '../schema.ts';

export const TokenView = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  role: oneOf(tokenRoles),
  createdAt: time,
  expiresAt: Type.Optional(time),
  revokedAt: Type.Optional(time),
  /** As far as this controller has seen it, since its start. */
  lastUsedAt: Type.Optional(time),
});
export type TokenView = Static<typeof TokenView>;

/** The token itself is told this once, and kept nowhere. */
export const NewTokenView = Type.Object({ ...TokenView.properties, token: Type.String() });
export type NewTokenView = Static<typeof NewTokenView>;

export const TokenList = Type.Object({ tokens: Type.Array(TokenView) });
export type TokenList = Static<typeof TokenList>;
