/** `drover token add|ls|revoke`: who may ask the controller for what. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { TokenRole } from '../../model/tokens.ts';
import type { TokenView } from '../../protocol/views/tokens.ts';
import { type CommonOptions, type Context, inFolder, printJson, withClient, withSession } from '../context.ts';
import { renderTable } from '../display/table.ts';
import { showTime } from '../display/time.ts';
import type { Session } from '../session.ts';

export interface AddTokenOptions extends CommonOptions {
  readonly role: TokenRole;
  readonly name?: string;
  readonly expires?: number;
  readonly access?: boolean;
}

export function addToken(context: Context, options: AddTokenOptions): Promise<number> {
  const { env } = context;
  const { role, name, expires, access, json } = options;
  return withSession(context, inFolder(options.dir), async (session) => {
    if (access) mustBeReachable(session);
    const added = await session.client.addToken({
      role,
      ...(name === undefined ? {} : { name }),
      ...(expires === undefined ? {} : { expiresInMs: expires }),
    });
    if (access) await env.stdout.write(accessFileFor(session, added.token));
    else if (json) await printJson(env, added);
    else await env.stdout.write(`${added.token}\n`);
    if (!json) await env.stderr.write(`drover: ${added.id} was made; it is shown only now\n`);
    return exitCodes.ok;
  });
}

function mustBeReachable({ isJoined }: Session): void {
  if (isJoined) return;
  throw new DroverError('controller-unreachable', 'no controller runs here: there is no address for an access file', {
    hint: "start one with 'drover server --detach'",
  });
}

function accessFileFor({ url, otherUrls, certificate }: Session, token: string): string {
  const file = { version: 1, url, ...(otherUrls === undefined ? {} : { otherUrls }), certificate, token };
  return `${JSON.stringify(file, null, 2)}\n`;
}

export interface ListTokensOptions extends CommonOptions {
  readonly all?: boolean;
}

export function listTokens(context: Context, options: ListTokensOptions): Promise<number> {
  const { env } = context;
  return withClient(context, options, async (client) => {
    const { tokens } = await client.tokens();
    const shown = tokens.filter((token) => options.all || stateOf(token) === 'valid');
    if (options.json) for (const token of shown) await printJson(env, token);
    else if (shown.length === 0) await env.stderr.write("drover: no token here; make one with 'drover token add'\n");
    else await env.stdout.write(renderTokens(shown, env.stdout.isTerminal ? env.stdout.columns : undefined));
    return exitCodes.ok;
  });
}

function stateOf({ expiresAt, revokedAt }: TokenView): 'valid' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}

function renderTokens(tokens: readonly TokenView[], maxColumns?: number): string {
  const time = (at: string | undefined): string => (at === undefined ? '' : showTime(at));
  return renderTable(
    ['ID', 'ROLE', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED', 'NAME'].map((title) => ({ title })),
    tokens.map((token) => [
      ...[token.id, token.role, stateOf(token), time(token.createdAt), time(token.expiresAt)],
      ...[time(token.lastUsedAt), token.name ?? ''],
    ]),
    maxColumns,
  );
}

export function revokeTokens(context: Context, ids: readonly string[], options: CommonOptions): Promise<number> {
  const { env } = context;
  return withClient(context, options, async (client) => {
    for (const id of ids) {
      await client.revokeToken(id);
      if (options.json) await printJson(env, { id, state: 'revoked' });
      else await env.stdout.write(`${id} opens nothing any more\n`);
    }
    return exitCodes.ok;
  });
}
