import { Type } from '@fastify/type-provider-typebox';
import { DroverError } from '../../model/errors.ts';
import { nameBytesMax, tokenMsMax } from '../../model/limits.ts';
import { parseToken, printToken, tokenRoles } from '../../model/tokens.ts';
import { oneOf } from '../../protocol/schema.ts';
import { NewTokenView, TokenList, type TokenView } from '../../protocol/views/tokens.ts';
import type { TokenRow } from '../../store/token-row.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import type { Gate } from '../gate.ts';

const Body = Type.Object(
  {
    role: oneOf(tokenRoles),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: nameBytesMax })),
    /** It never expires when absent. */
    expiresInMs: Type.Optional(Type.Integer({ minimum: 1, maximum: tokenMsMax })),
  },
  { additionalProperties: false },
);

export function registerTokenRoutes(app: App, { shell, gate }: ApiOptions): void {
  app.post(
    '/api/v1/tokens',
    { schema: { summary: 'Make a token, which is told this once', body: Body, response: { 200: NewTokenView } } },
    async ({ body }) => {
      const { role, name, expiresInMs } = body;
      const token = gate.secrets.newToken();
      const expiresAt = expiresInMs === undefined ? undefined : shell.now() + expiresInMs;
      const reply = await shell.request({
        type: 'add-token',
        token: { role, name, expiresAt, hash: gate.secrets.digest(token) },
      });
      if (reply.type !== 'token-added') throw new DroverError('bug', 'no token was added');
      return { ...renderToken(reply.token, gate), token };
    },
  );
  app.get('/api/v1/tokens', { schema: { summary: 'List tokens', response: { 200: TokenList } } }, () =>
    shell.read(() => ({ tokens: [...shell.controller.tokens.rows].map((row) => renderToken(row, gate)) })),
  );
  app.delete('/api/v1/tokens/:id', { schema: { summary: 'Revoke a token', params: Reference } }, async ({ params }) => {
    const token = parseToken(params.id);
    if (token === undefined) {
      throw new DroverError('bad-reference', `'${params.id}' is not the name of a token`, { hint: 'for example t3' });
    }
    await shell.request({ type: 'revoke-token', token });
    gate.onRevoked(params.id);
    return {};
  });
}

const iso = (time: number): string => new Date(time).toISOString();

function renderToken({ id, name, role, createdAt, expiresAt, revokedAt }: TokenRow, gate: Gate): TokenView {
  const lastUsedAt = gate.lastUsedAt(printToken(id));
  return {
    id: printToken(id),
    ...(name === undefined ? {} : { name }),
    role,
    createdAt: iso(createdAt),
    ...(expiresAt === undefined ? {} : { expiresAt: iso(expiresAt) }),
    ...(revokedAt === undefined ? {} : { revokedAt: iso(revokedAt) }),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: iso(lastUsedAt) }),
  };
}
