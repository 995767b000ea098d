/** The document of the API against the API itself, at a real controller in this process. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaComments } from '../../scripts/schema-comments.ts';
import { filterTables } from '../../src/protocol/filter/fields.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';

interface Operation {
  readonly operationId: string;
  readonly summary?: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly unknown[];
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** Who has no token is else made to wait after a few requests. */
const often = { perSecond: 1_000, burst: 1_000 };

let controller: InProcessController;
let document: Document;

beforeAll(async () => {
  controller = await startController({ rates: { requests: often, failures: often } });
  // Without a token: there are no secrets in it.
  document = (await (await fetch(`${controller.access.url}/api/v1/openapi.json`)).json()) as Document;
});

afterAll(() => controller.close());

const operations = (): [string, Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

describe('the document of the API', () => {
  it('is valid OpenAPI 3.1', async () => {
    const checked = await new Validator().validate(structuredClone({ ...document }));
    expect(checked.errors ?? []).toEqual([]);
    expect(checked.valid).toBe(true);
    expect(document.openapi).toBe('3.1.0');
  });

  it('has every schema that the sources describe', () => {
    const { schemas } = document.components;
    expect(Object.keys(schemaComments()).filter((name) => schemas[name] === undefined)).toEqual([]);
  });

  it('has every route that is registered', () => {
    const routes = controller.routes.filter((route) => !route.startsWith('HEAD'));
    const registered = [...new Set(routes)].map((route) => route.replace(/:(\w+)/g, '{$1}'));
    expect(registered.length).toBeGreaterThan(30);
    expect(
      operations()
        .map(([name]) => name)
        .sort(),
    ).toEqual(registered.sort());
  });

  it('says of every route what it does, by a name of its own', () => {
    const silent = operations().filter(([, { summary = '' }]) => summary === '');
    expect(silent.map(([name]) => name)).toEqual([]);
    const names = operations().map(([, { operationId }]) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('says of schemas and their fields what their comments say', () => {
    const { TaskView, Counts } = document.components.schemas as Record<
      string,
      { properties: Record<string, object>; description?: string }
    >;
    expect(TaskView?.properties.command).toMatchObject({ description: 'Absent for a barrier or another join.' });
    expect(Counts?.description).toContain('Tasks with a command');
  });

  it('names the fields of every filter', () => {
    for (const [list, fields] of Object.entries(filterTables)) {
      const named = document.paths[`/api/v1/${list}`]?.get?.parameters.map(({ name }) => name);
      for (const { name } of fields) expect(named).toContain(name);
    }
  });

  it('resolves all of its references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '');
    expect(references.length).toBeGreaterThan(20);
    for (const path of new Set(references)) {
      const found = path.split('/').reduce<unknown>((part, key) => (part as Record<string, unknown>)?.[key], document);
      expect(found, path).toBeDefined();
    }
  });

  it('says which routes need no token, and all others do', async () => {
    for (const [name, { security }] of operations()) {
      const [method = '', path = ''] = name.split(' ');
      const { status } = await fetch(controller.access.url + path.replace('{id}', 'w1'), { method });
      expect(status === 401, name).toBe(security === undefined);
    }
  });
});

it('the page loads nothing from elsewhere, and its program is one that parses', async () => {
  const response = await fetch(`${controller.access.url}/api/v1/docs`);
  const html = await response.text();
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(html).not.toMatch(/https?:|src=|url\(|@import/);
  const program = /<script type="module">(.*)<\/script>/s.exec(html)?.[1] ?? '';
  const AsyncFunction = (async () => undefined).constructor as FunctionConstructor;
  expect(() => new AsyncFunction(program)).not.toThrow();
});
