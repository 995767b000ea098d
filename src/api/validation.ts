/** What a schema finds wrong, in words that name the place, the field, and what is expected there. */
import { DroverError } from '../model/errors.ts';

/** As the checkers of schemas tell it. */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** `part` is what was checked: `body`, `querystring`, `line 3`. */
export function refusalOf(errors: readonly SchemaError[], part: string): DroverError {
  const [first] = errors.filter(({ keyword }) => keyword !== 'boolean');
  if (first === undefined) return new DroverError('bad-input', `${part} is malformed`);
  const at = `${part}${first.instancePath}`;
  const unknown = namesIn(first, 'additionalProperties');
  if (unknown.length > 0) {
    return new DroverError(
      'bad-input',
      `${at} has an unknown field: ${unknown.map((name) => `'${name}'`).join(', ')}`,
      {
        hint: 'remove it; /api/v1/docs has the fields there are',
        details: { at, unknown },
      },
    );
  }
  const missing = namesIn(first, 'requiredProperties');
  if (missing.length > 0) {
    const names = missing.map((name) => `'${name}'`).join(', ');
    return new DroverError('bad-input', `${at} lacks ${names}`, { details: { at, missing } });
  }
  return new DroverError('bad-input', `${at} ${expectation(first, errors)}`, { details: { at } });
}

const namesIn = ({ params }: SchemaError, name: string): string[] =>
  Array.isArray(params[name]) ? params[name].map(String) : [];

/** Of words, each is an error of its own: they are told together. */
function expectation(first: SchemaError, errors: readonly SchemaError[]): string {
  if (first.keyword !== 'const') return first.message ?? 'is malformed';
  const words = errors
    .filter(({ keyword, instancePath }) => keyword === 'const' && instancePath === first.instancePath)
    .map(({ params }) => String(params.allowedValue));
  return words.length === 1 ? `must be ${words[0]}` : `must be one of ${words.join(', ')}`;
}
