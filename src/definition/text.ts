/** A definition that comes as text, in YAML, of which JSON is a part: the document, and where its parts are. */
import { isMap, isPair, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { DroverError } from '../model/errors.ts';
import { Issues, type Locate, type Path } from './issues.ts';

export interface ParsedText {
  readonly document: unknown;
  readonly locate: Locate;
}

/** Aliases that stand for more than so many nodes are a bomb, not a definition. */
const aliasesMax = 10_000;

/** `name` is how errors call the text. */
export function parseText(text: string, name: string): ParsedText {
  const lines = new LineCounter();
  const parsed = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const failures = new Issues((path) => at(Number(path[0])));
  for (const { message, pos } of parsed.errors) failures.add([pos[0]], message);
  refuse(failures, name);
  const locate: Locate = (path) => {
    const offset = offsetOf(parsed, path);
    return offset === undefined ? undefined : at(offset);
  };
  const ambiguous = new Issues(locate);
  visit(parsed, {
    Scalar: (_, { value, source }, ancestors) => {
      const path = keysOf(ancestors);
      if (typeof value !== 'number' || source === undefined || source === String(value) || !path.includes('args'))
        return;
      ambiguous.add(path, `${source} would be taken for ${value}: write it in quotes, '${source}'`);
    },
  });
  ambiguous.throwIfAny(name);
  try {
    return { document: parsed.toJS({ maxAliasCount: aliasesMax }), locate };
  } catch (cause) {
    throw new DroverError('bad-definition', `${name}: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

/** What does not parse has no path, only a place. */
function refuse(failures: Issues, name: string): void {
  try {
    failures.throwIfAny(name);
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    const issues = (error.details?.issues ?? []) as readonly object[];
    const plain = issues.map((issue) => ({ ...issue, path: '' }));
    throw new DroverError(error.code, error.message.replace(/: \[\d+\]: /, ': '), {
      details: { ...error.details, issues: plain },
    });
  }
}

/** The keys on the way to a node; places in lists are left out, since only names matter here. */
const keysOf = (ancestors: readonly unknown[]): string[] =>
  ancestors.flatMap((node) => (isPair(node) && isScalar(node.key) ? [String(node.key.value)] : []));

/** Of a plain value itself, else of its key; of what is not there, of the next thing around it. */
function offsetOf(parsed: ReturnType<typeof parseDocument>, path: Path): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const part = path.slice(0, length);
    const node = length === 0 ? parsed.contents : parsed.getIn(part, true);
    const parent = length === 0 ? undefined : length === 1 ? parsed.contents : parsed.getIn(part.slice(0, -1), true);
    const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === part.at(-1)) : undefined;
    const key = pair !== undefined && isScalar(pair.key) ? pair.key.range?.[0] : undefined;
    const value = (node as { readonly range?: readonly number[] } | undefined)?.range?.[0];
    const offset = isScalar(node) ? (value ?? key) : (key ?? value);
    if (offset !== undefined) return offset;
  }
  return undefined;
}
