/**
 * Which role may call which route: the one table. An admin may call all that are in it; what is not in it is refused.
 * Later rows are for what earlier ones do not name.
 */
import { DroverError } from '../model/errors.ts';
import { definitionRequestBytesMax, submitBodyBytesMax } from '../model/limits.ts';
import type { TokenRole } from '../model/tokens.ts';

/** Who is let in without a token, or which roles beside `admin`. */
type Grant = 'open' | readonly TokenRole[];

const reading: Grant = ['read', 'submit'];
const submitting: Grant = ['submit'];
const working: Grant = ['worker'];
const administering: Grant = [];

export interface RouteAccess {
  readonly grant: Grant;
  /** The largest body; the default of the application where it is absent. */
  readonly bodyBytesMax?: number;
  /** Whether it can be repeated under an idempotency key. */
  readonly takesKey?: true;
}

type Row = readonly [methods: string, path: string, grant: Grant, more?: Omit<RouteAccess, 'grant'>];

const large = { bodyBytesMax: submitBodyBytesMax };
const compiled = { bodyBytesMax: definitionRequestBytesMax };
const repeatable = { takesKey: true } as const;

/** `:` stands for one part of a path whatever its name, a final `*` for the rest. */
const rows: readonly Row[] = [
  ['GET', '/openapi.json', 'open'],
  ['GET', '/docs', 'open'],
  ['GET', '/docs/*', 'open'],

  ['GET POST', '/tokens', administering],
  ['DELETE', '/tokens/:', administering],
  ['PUT DELETE', '/limits/:', administering],
  ['POST', '/server/announce', submitting],
  ['POST', '/server/leave', submitting],
  ['POST', '/server/*', administering],

  // What an HTTP worker does, and what it has to look at for it.
  ['GET', '/server', [...reading, ...working]],
  ['GET', '/tasks/available', [...reading, ...working]],
  ['GET', '/tasks/:', [...reading, ...working]],
  ['POST', '/workers', working],
  ['GET POST', '/workers/:/orders', working],
  ['GET POST PATCH DELETE', '/workers/:/claims*', working],
  ['POST PUT', '/workers/:/heartbeat', working],
  ['PATCH', '/tasks/:', [...submitting, ...working]],
  ['GET', '/tasks/:/execution_info*', [...reading, ...working]],
  ['POST PUT PATCH', '/tasks/:/execution_info*', working],
  ['POST PATCH', '/tasks/:/report_*', working],
  ['PUT POST', '/attempts/:/output*', working, large],
  ['POST PUT PATCH', '/attempts/:*', working],
  ['DELETE', '/workers/:', working],
  ['POST', '/workers/:/*', administering],

  ['POST', '/workflows', submitting, { ...large, ...repeatable }],
  ['POST', '/workflows/:/tasks', submitting, { ...large, ...repeatable }],
  ['POST', '/definitions', submitting, compiled],
  ['POST', '/workflows/:/difference', reading, compiled],
  ['POST', '/workflows/:/close', submitting, repeatable],
  ['POST', '/workflows/:/*', submitting],
  ['POST', '/tasks', submitting, large],
  ['POST PATCH', '/tasks/:/add_*', submitting, large],
  ['POST PATCH', '/tasks/:/remove_*', submitting, large],
  ['POST PATCH DELETE', '/tasks/*', submitting],
  ['PATCH DELETE', '/workflows/*', submitting],
  ['POST', '/bulk*', submitting],

  ['GET', '/*', reading],
];

/** The native worker's sockets, which are no routes. */
export const workerLinks: RouteAccess = { grant: working };

const prefix = '/api/v1';

const patterns = rows.map(([methods, path, grant, more]) => ({
  methods: methods.split(' '),
  pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replaceAll(':', '[^/]+').replace(/\*$/, '.*')}$`),
  access: { grant, ...more } as RouteAccess,
}));

/** By a route as it was registered, its parameters included. A `HEAD` is a `GET` without its body. */
export function accessTo(method: string, route: string): RouteAccess | undefined {
  if (!route.startsWith(prefix)) return undefined;
  const path = route.slice(prefix.length);
  const asked = method === 'HEAD' ? 'GET' : method;
  return patterns.find(({ methods, pattern }) => methods.includes(asked) && pattern.test(path))?.access;
}

export function mustBeAllowed(role: TokenRole, access: RouteAccess | undefined, asked: string): void {
  if (access === undefined)
    throw new DroverError('role-not-allowed', `nobody may call ${asked}: it has no access rule`);
  const { grant } = access;
  if (role === 'admin' || grant === 'open' || grant.includes(role)) return;
  const needed: readonly TokenRole[] = [...grant, 'admin'];
  throw new DroverError('role-not-allowed', `${asked} is for ${needed.join(', ')}, not for ${role}`, {
    hint: `use a token of the role ${needed[0]}`,
    details: { role, needed },
  });
}
