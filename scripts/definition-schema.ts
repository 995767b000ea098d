/** The JSON Schema of definitions, for editors: the schema that they are checked by, with what its comments say. */
import * as words from '../src/definition/schema.ts';
import { schemaComments } from './schema-comments.ts';

type Json = Readonly<Record<string, unknown>>;

const isSchema = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && ('type' in value || 'anyOf' in value);

export function definitionSchema(): string {
  const comments = schemaComments(['../definition/schema.ts']);
  const named = Object.entries(words).filter(([, value]) => isSchema(value)) as unknown as [string, Json][];
  const nameByContent = new Map(named.map(([name, schema]) => [JSON.stringify(schema), name]));

  const linked = (value: unknown, self?: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => linked(one));
    if (typeof value !== 'object' || value === null) return value;
    const name = isSchema(value) ? nameByContent.get(JSON.stringify(value)) : undefined;
    if (name !== undefined && name !== self) return { $ref: `#/$defs/${name}` };
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, linked(part)]));
  };
  const described = ([name, schema]: [string, Json]): [string, Json] => {
    const { '': about, ...fields } = comments[name] ?? {};
    // Fields that a schema has from the defaults are described there.
    const all = { ...comments.Defaults, ...fields };
    const plain = linked(schema, name) as Json;
    const properties = Object.entries((plain.properties ?? {}) as Readonly<Record<string, Json>>).map(
      ([field, part]) =>
        [field, all[field] === undefined || field === '' ? part : { description: all[field], ...part }] as const,
    );
    return [
      name,
      {
        ...(about === undefined ? {} : { description: about }),
        ...plain,
        ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
      },
    ];
  };
  const { Definition, ...rest } = Object.fromEntries(named.map(described));
  const whole = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A workflow of Drover',
    ...Definition,
    $defs: rest,
  };
  return `${JSON.stringify(whole, null, 2)}\n`;
}
