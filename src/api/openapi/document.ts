/** The API as an OpenAPI 3.1 document, made of the routes as they are registered and of the schemas that they check with. */
import type { RouteOptions } from 'fastify';
import { type ErrorCode, errorKinds } from '../../model/errors.ts';
import { filterTables } from '../../protocol/filter/fields.ts';
import { fieldTypes } from '../../protocol/filter/types.ts';
import { accessTo } from '../access.ts';
import descriptions from './descriptions.json' with { type: 'json' };
import { isSchema, type Json, namedSchemas } from './schemas.ts';

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

const nameByContent = new Map(Object.entries(namedSchemas).map(([name, schema]) => [JSON.stringify(schema), name]));

/** With references where a part has a name. `self` is not replaced by a reference to itself. */
function linked(value: unknown, self?: string): unknown {
  if (Array.isArray(value)) return value.map((one) => linked(one));
  if (typeof value !== 'object' || value === null) return value;
  const name = isSchema(value) ? nameByContent.get(JSON.stringify(value)) : undefined;
  if (name !== undefined && name !== self) return { $ref: `#/components/schemas/${name}` };
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, linked(part)]));
}

/** With what the sources say of the schema and of its fields. */
function described(schema: Json, name: string): Json {
  const { '': about, ...fields } =
    (descriptions as Readonly<Record<string, Readonly<Record<string, string>>>>)[name] ?? {};
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Json>>);
  return {
    ...schema,
    ...(about === undefined ? {} : { description: about }),
    ...(properties.length === 0
      ? {}
      : {
          properties: Object.fromEntries(
            properties.map(([key, one]) => [
              key,
              fields[key] === undefined ? one : { ...one, description: fields[key] },
            ]),
          ),
        }),
  };
}

export function describeApi(routes: readonly RouteOptions[], version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    const path = route.url.replace(/:([A-Za-z]+)/g, '{$1}');
    for (const method of [route.method].flat()) {
      if (method === 'HEAD') continue;
      const key = method.toLowerCase();
      paths[path] = { ...paths[path], [key]: merged(paths[path]?.[key], operationOf(route, method)) };
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Drover',
      version,
      description:
        'Drives herds of shell tasks. Times are ISO-8601 in UTC; what is not there is absent, never null; unknown fields of a body are refused.',
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'a token of the access file' } },
      schemas: Object.fromEntries(
        Object.entries(namedSchemas).map(([name, schema]) => [name, described(linked(schema, name) as Json, name)]),
      ),
      responses: errorResponses(),
    },
  };
}

interface WithBody {
  readonly description?: string;
  readonly requestBody?: { readonly content: Json };
}

/** Routes that differ in the type of their body are one operation, which takes either. */
function merged(known: Json | undefined, added: Json): Json {
  if (known === undefined) return added;
  const [first, second] = [known as WithBody, added as WithBody];
  return {
    ...known,
    description: [first.description, second.description].filter(Boolean).join(' '),
    requestBody: { required: true, content: { ...first.requestBody?.content, ...second.requestBody?.content } },
  };
}

const isOpen = ({ url }: RouteOptions): boolean => accessTo('GET', url)?.grant === 'open';
const tagOf = (route: RouteOptions): string =>
  isOpen(route) ? 'documentation' : (route.url.split('/')[3] ?? 'server');

function operationOf(route: RouteOptions, method: string): Json {
  const { schema = {} } = route;
  const { summary, description } = schema;
  return {
    operationId: operationId(route.url, method),
    tags: [tagOf(route)],
    ...(summary === undefined ? {} : { summary }),
    description: [description, rolesOf(route, method)].filter(Boolean).join(' '),
    parameters: parametersOf(route),
    ...bodyOf(route),
    responses: {
      ...answersOf(route, method),
      ...(method === 'GET' ? { 304: { description: 'what `If-None-Match` names is still right' } } : {}),
      ...Object.fromEntries(
        refusals(route, method).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
    ...(isOpen(route) ? { security: [] } : {}),
  };
}

function rolesOf({ url }: RouteOptions, method: string): string | undefined {
  const grant = accessTo(method, url)?.grant;
  return grant === undefined || grant === 'open' ? undefined : `For the roles ${[...grant, 'admin'].join(', ')}.`;
}

/** `POST /api/v1/tasks/:id/cancel` is `postTasksIdCancel`. */
function operationId(url: string, method: string): string {
  const words = url
    .split('/')
    .slice(3)
    .flatMap((part) => part.replace(':', '').split(/[^A-Za-z0-9]+/));
  const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);
  return method.toLowerCase() + words.filter(Boolean).map(capital).join('');
}

/** Those that are no refusals: 200, unless the route says otherwise. */
function answersOf({ schema = {} }: RouteOptions, method: string): Json {
  const { response = { 200: {} }, produces = 'application/json' } = schema;
  const description = method === 'GET' ? 'what was asked for' : 'done, and durable';
  return Object.fromEntries(
    Object.entries(response as Json).map(([status, answer]) => [
      status,
      { description, content: { [produces]: { schema: produces === 'application/json' ? linked(answer) : {} } } },
    ]),
  );
}

function parametersOf({ url, schema = {}, config }: RouteOptions): Json[] {
  const ids = [...url.matchAll(/:([A-Za-z]+)/g)].map(([, name]) => name);
  const example = url.includes('/limits/')
    ? 'licences'
    : url.includes('/workers/')
      ? 'k3'
      : url.includes('/tokens/')
        ? 't3'
        : url.includes('/tasks/:')
          ? 'w3.14'
          : 'w3';
  return [
    ...ids.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' }, example })),
    ...inQuery(schema.querystring as ObjectSchema | undefined),
    ...(config?.filters === undefined ? [] : filterTables[config.filters].map(asParameter)),
  ];
}

function inQuery(query: ObjectSchema | undefined): Json[] {
  return Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    ...{ name, in: 'query', required: query?.required?.includes(name) ?? false },
    ...(description === undefined ? {} : { description }),
    schema: linked(schema),
  }));
}

/** A field of a filter: `exit>1` has its operator where OpenAPI knows only `=`, so the others are named. */
function asParameter({
  name,
  type,
  about,
  example,
  values,
}: (typeof filterTables)['tasks'][number] & { values?: readonly string[] }): Json {
  const { operators, expects } = fieldTypes[type];
  const words = values === undefined ? expects : values.join(', ');
  return {
    ...{ name, in: 'query', required: false, schema: { type: 'string' } },
    description: `Filter: ${about}. Compared by ${operators.join(' ')}; ${words}. For example \`${example}\`.`,
  };
}

function bodyOf({ schema = {} }: RouteOptions): Json {
  const { body, consumes = [], bodyExample } = schema;
  if (body === undefined && consumes.length === 0) return {};
  const example = bodyExample === undefined ? {} : { example: bodyExample };
  const content = body === undefined ? [] : [['application/json', { schema: linked(body), ...example }] as const];
  const streams = consumes.map((type) => [type, { schema: {} }] as const);
  return { requestBody: { required: true, content: Object.fromEntries([...content, ...streams]) } };
}

/** What may go wrong with any request of that kind. */
function refusals(route: RouteOptions, method: string): number[] {
  if (isOpen(route)) return [429, 500];
  const ofBody = method === 'GET' ? [] : [409, 413];
  return [400, 401, 403, ...(route.url.includes(':') ? [404] : []), ...ofBody, 429, 500, 503];
}

function errorResponses(): Json {
  const byStatus = new Map<number, string[]>();
  for (const code of Object.keys(errorKinds) as ErrorCode[]) {
    const { status, hint } = errorKinds[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\`: ${hint}`]);
  }
  const schema = { $ref: '#/components/schemas/ErrorBody' };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      { description: codes.join('; '), content: { 'application/json': { schema } } },
    ]),
  );
}
