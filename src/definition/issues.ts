/** What is wrong with a definition: all of it at once, each with its place in the document. */
import { DroverError } from '../model/errors.ts';
import { definitionIssuesMax } from '../model/limits.ts';
import { nearest } from '../protocol/filter/nearest.ts';

export type Path = readonly (string | number)[];

export interface Issue {
  /** `tasks[3].after[0]`; '' is the whole document. */
  readonly path: string;
  readonly message: string;
  /** Of a document that came as text; both count from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Where a part of a document is in its text. */
export type Locate = (path: Path) => { readonly line: number; readonly column: number } | undefined;

export class Issues {
  readonly #locate: Locate;
  readonly #found: Issue[] = [];
  #count = 0;

  constructor(locate: Locate = () => undefined) {
    this.#locate = locate;
  }

  get count(): number {
    return this.#count;
  }

  add(path: Path, message: string): void {
    this.#count += 1;
    if (this.#found.length < definitionIssuesMax) {
      this.#found.push({ path: printPath(path), message, ...this.#locate(path) });
    }
  }

  /** `name` is how errors call the document. */
  throwIfAny(name: string): void {
    const [first] = this.#found;
    if (first === undefined) return;
    const more = this.#count - 1;
    const rest = more === 0 ? '' : `, and ${more} more`;
    throw new DroverError('bad-definition', `${printIssue(first, name)}${rest}`, {
      details: { issues: this.#found, total: this.#count },
    });
  }
}

/** `flow.yaml:3:9: tasks[3].after[0]: there is no task 'algin'` */
export function printIssue({ path, message, line, column }: Issue, name: string): string {
  const place = line === undefined ? name : [name, line, column].filter((part) => part !== '').join(':');
  return [place, path, message].filter(Boolean).join(': ');
}

export const printPath = (path: Path): string =>
  path.reduce<string>((so, part) => {
    if (typeof part === 'number') return `${so}[${part}]`;
    if (!/^[\w-]+$/.test(part)) return `${so}[${JSON.stringify(part)}]`;
    return so === '' ? part : `${so}.${part}`;
  }, '');

/** What the writer may have meant, as the end of a sentence. */
export function didYouMean(written: string, known: Iterable<string>): string {
  const near = nearest(written, [...known]);
  return near.length === 0 ? '' : `; did you mean ${near.map((name) => `'${name}'`).join(' or ')}?`;
}
