/** Values from schemas: such as they describe, and such as they don't. */
import fc, { type Arbitrary } from 'fast-check';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema | readonly Schema[];
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Resolve = (reference: string) => Schema;

/** Text of all kinds: plain, with what has a meaning somewhere, and any at all. */
export const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    '../..',
    "'; --",
    '%00',
    '\ud800',
    'w1',
    '-1',
    'null',
    '🐑',
    '__proto__',
    'x'.repeat(500),
  ),
);

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, -1, 1.5, 1e300, 2 ** 53, '', [], {}, true, 'x'.repeat(5_000), deep(200)),
);

function deep(levels: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

/** What the schema describes, small. */
export function valid(schema: Schema, resolve: Resolve): Arbitrary<unknown> {
  if (schema.$ref !== undefined) return valid(resolve(schema.$ref), resolve);
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((one) => valid(one, resolve)));
  switch (schema.type) {
    case 'object':
      return objects(schema, resolve);
    case 'array':
      return arrays(schema, resolve);
    case 'string':
      return text.filter((one) => one.length >= (schema.minLength ?? 0) && one.length <= (schema.maxLength ?? 1e9));
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? -10,
        max: Math.min(schema.maximum ?? 50, (schema.minimum ?? -10) + 60),
      });
    case 'number':
      return fc.double({ min: schema.minimum ?? -10, max: schema.maximum ?? 100, noNaN: true });
    case 'boolean':
      return fc.boolean();
    default:
      return junk;
  }
}

function objects({ properties = {}, required = [], patternProperties }: Schema, resolve: Resolve): Arbitrary<unknown> {
  const [any] = Object.values(patternProperties ?? {});
  if (any !== undefined)
    return fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), valid(any, resolve), { maxKeys: 3 });
  const members = Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, valid(one, resolve)]));
  return fc.record(members, { requiredKeys: [...required] });
}

function arrays({ items, prefixItems, minItems = 0 }: Schema, resolve: Resolve): Arbitrary<unknown> {
  const places = prefixItems ?? (Array.isArray(items) ? (items as readonly Schema[]) : undefined);
  if (places !== undefined) return fc.tuple(...places.map((one) => valid(one, resolve)));
  return fc.array(valid((items as Schema | undefined) ?? {}, resolve), {
    minLength: minItems,
    maxLength: minItems + 4,
  });
}

/** The same with one thing wrong: a part exchanged, taken away or added. */
export function mutated(schema: Schema, resolve: Resolve): Arbitrary<unknown> {
  return fc
    .tuple(
      valid(schema, resolve),
      fc.nat(),
      fc.constantFrom('exchange', 'remove', 'add'),
      junk,
      fc.string({ maxLength: 8 }),
    )
    .map(([value, at, how, other, name]) => {
      const copy = structuredClone(value);
      const places = placesIn(copy);
      const place = places[at % Math.max(1, places.length)];
      if (place === undefined) return other;
      const [holder, key] = place;
      if (how === 'exchange') holder[key] = other;
      else if (how === 'remove') delete holder[key];
      else Object.assign(holder, { [name]: other });
      return copy;
    });
}

type Holder = Record<string, unknown>;

function placesIn(value: unknown): [Holder, string][] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Holder;
  return Object.keys(holder).flatMap((key): [Holder, string][] => [[holder, key], ...placesIn(holder[key])]);
}
