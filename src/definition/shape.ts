/** Whether a document has the form of a definition: what its schema finds wrong, in words. */
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { definitionIssuesMax } from '../model/limits.ts';
import { didYouMean, type Issues, type Path } from './issues.ts';
import { Definition } from './schema.ts';

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message: string;
}

let checker: ReturnType<typeof Compile<typeof Definition>> | undefined;

/**
 * The document as far as it has the form, so that the rest of it can be looked at, too: what is wrong is reported and
 * left out. Undefined where too much would be left out.
 */
export function shaped(document: unknown, issues: Issues): Definition | undefined {
  checker ??= Compile(Definition);
  if (checker.Check(document)) return document;
  const all = errorsOf(checker, document);
  const errors = telling(all);
  const sound = structuredClone(document);
  for (const error of errors) {
    const path = pathOf(error.instancePath, document);
    const unknown = namesIn(error, 'additionalProperties');
    for (const name of unknown) issues.add([...path, name], unknownField(name, error));
    if (unknown.length === 0) issues.add(path, expectation(error, all));
    for (const part of unknown.length === 0 ? [path] : unknown.map((name) => [...path, name])) remove(sound, part);
  }
  return checker.Check(sound) ? sound : undefined;
}

/** A union has an error for each of its branches: as many as are shown come of several times as many. */
const errorsMax = 20 * definitionIssuesMax;

function errorsOf(check: NonNullable<typeof checker>, document: unknown): readonly SchemaError[] {
  const before = Settings.Get().maxErrors;
  Settings.Set({ maxErrors: errorsMax });
  try {
    return check.Errors(document) as readonly SchemaError[];
  } finally {
    Settings.Set({ maxErrors: before });
  }
}

/** Of a union, every branch has its errors: kept are those of the branch that was meant, which go deepest. */
function telling(errors: readonly SchemaError[]): SchemaError[] {
  const unions = new Set(errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath));
  const hasDeeper = (path: string): boolean => errors.some(({ instancePath }) => instancePath.startsWith(`${path}/`));
  const hasWords = (path: string, words: ReadonlySet<string>): boolean =>
    errors.some(({ instancePath, keyword }) => instancePath === path && words.has(keyword));
  const seen = new Set<string>();
  return errors.filter((error) => {
    const { instancePath: path, keyword } = error;
    const isNamed = namedKeywords.has(keyword);
    if (unions.has(path) && !isNamed) {
      if (hasDeeper(path) || hasWords(path, namedKeywords)) return false;
      if (hasWords(path, constKeyword) ? keyword !== 'const' : keyword !== 'anyOf') return false;
    }
    const key = `${path} ${isNamed ? JSON.stringify(error.params) : ''}`;
    if (keyword === 'boolean' || seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

const constKeyword = new Set(['const']);
const namedKeywords = new Set(['additionalProperties', 'required']);

const namesIn = ({ params, keyword }: SchemaError, name: string): string[] =>
  keyword === name && Array.isArray(params[name]) ? params[name].map(String) : [];

function unknownField(name: string, { schemaPath }: SchemaError): string {
  return `unknown field${didYouMean(name, fieldsAt(schemaPath))}`;
}

/** The fields that the schema of a place has. */
function fieldsAt(schemaPath: string): string[] {
  const parts = schemaPath.replace(/^#\/?/, '').split('/').filter(Boolean);
  let schema: unknown = Definition;
  for (const part of parts) {
    const next = (schema as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
    if (next === undefined) break;
    schema = next;
  }
  const { properties } = schema as { readonly properties?: object };
  return Object.keys(properties ?? {});
}

function expectation(error: SchemaError, errors: readonly SchemaError[]): string {
  const missing = error.params.requiredProperties;
  if (error.keyword === 'required' && Array.isArray(missing)) {
    return `lacks ${missing.map((name) => `'${name}'`).join(', ')}`;
  }
  if (error.keyword === 'anyOf') return 'is none of what can be written here';
  if (error.keyword !== 'const') return error.message;
  const words = errors
    .filter(({ keyword, instancePath }) => keyword === 'const' && instancePath === error.instancePath)
    .map(({ params }) => String(params.allowedValue));
  return `must be ${words.join(', ')}`;
}

/** From `/tasks/3/after` to its parts, numbers where there is a list. */
function pathOf(pointer: string, document: unknown): Path {
  let value = document;
  return pointer
    .split('/')
    .slice(1)
    .map((part) => {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      const isList = Array.isArray(value);
      value = (value as Record<string, unknown> | undefined)?.[name];
      return isList ? Number(name) : name;
    });
}

function remove(document: unknown, path: Path): void {
  const parent = path.slice(0, -1).reduce((so, part) => (so as Record<string, unknown>)?.[part], document);
  const last = path.at(-1);
  // A list keeps its positions: they are in the paths of other errors.
  if (last === undefined || typeof parent !== 'object' || parent === null || Array.isArray(parent)) return;
  delete (parent as Record<string, unknown>)[last];
}
