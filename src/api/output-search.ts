/**
 * A search in the output of tasks, in the order of their ids: read piece by piece, told some lines at a time.
 * What it costs is bounded: a piece at a time between which others have their turn, so long for the expression, and about
 * so many bytes for a request (`searchLimits`).
 */
import type { ControllerShell } from '../controller/shell.ts';
import type { AttemptRow } from '../core/attempt/record.ts';
import { printTask, type TaskId } from '../model/ids.ts';
import { searchLimits as limits } from '../model/limits.ts';
import type { OutputStream } from '../model/states.ts';
import type { Pattern, Span } from '../platform/env.ts';
import type { Filter } from '../protocol/filter/language.ts';
import type { SearchEnd, SearchLine } from '../protocol/views/output.ts';
import { readOutput } from './output.ts';
import { breath } from './query/breath.ts';
import { decodeCursor, encodeCursor } from './query/cursor.ts';
import { planFor } from './query/planning.ts';
import { lastAttempts, selectTasks } from './query/task-selection.ts';

/** So many have their turn at a time; who comes later waits. */
export class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  async take<T>(act: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}

export interface Search {
  /** Of all searches together. Whoever reads what was found has none meanwhile. */
  readonly turns: Turns;
  readonly filter: Filter;
  readonly pattern: Pattern;
  readonly streams: readonly OutputStream[];
  /** Lines before and behind each that matches. */
  readonly context: number;
  /** Of each task; the last one when absent. */
  readonly attempt: number | undefined;
  readonly cursor: string | undefined;
}

const order = { list: 'search', sort: 'id' } as const;

interface Tally {
  tasks: number;
  bytes: number;
  matches: number;
  missing: number;
}

export async function* searchOutput(
  shell: ControllerShell,
  search: Search,
): AsyncGenerator<readonly (SearchLine | SearchEnd)[]> {
  const plan = await planFor(shell, search.filter);
  const tally: Tally = { tasks: 0, bytes: 0, matches: 0, missing: 0 };
  let after = search.cursor === undefined ? undefined : decodeCursor(order, search.cursor);
  for (;;) {
    const { tasks, reached } = await selectTasks(shell, plan, { after, isDescending: false, most: limits.tasksAtOnce });
    const rows = await attemptsToSearch(shell, tasks, search.attempt);
    for (const [at, task] of tasks.entries()) {
      const row = rows[at];
      if (row !== undefined) yield* searchTask(shell, search, task, row, tally);
      if (tally.bytes >= limits.bytesMax) return yield [{ ...tally, next: encodeCursor(order, task) }];
    }
    if (reached === undefined) return yield [tally];
    after = reached;
    await breath();
  }
}

/** None of a task that has no such attempt. */
async function attemptsToSearch(
  shell: ControllerShell,
  tasks: readonly TaskId[],
  number: number | undefined,
): Promise<(AttemptRow | undefined)[]> {
  const last = await lastAttempts(shell, tasks);
  if (number === undefined) return last;
  const rows: (AttemptRow | undefined)[] = [];
  for (const row of last) {
    const all = row === undefined || row.number < number ? [] : await shell.store.attemptsBack(row.id);
    rows.push(all.find((attempt) => attempt.number === number));
  }
  return rows;
}

async function* searchTask(
  shell: ControllerShell,
  { turns, pattern, streams, context }: Search,
  id: TaskId,
  row: AttemptRow,
  tally: Tally,
): AsyncGenerator<readonly SearchLine[]> {
  const task = await shell.read(({ tasks }) => printTask(tasks.workflow(id), tasks.index(id)));
  tally.tasks++;
  for (const stream of streams) {
    const finder = new LineFinder(pattern, context);
    const decoder = new TextDecoder();
    for (let offset = 0, isEnd = false; !isEnd; await breath()) {
      const read = await turns.take(() => readOutput(shell, { attempt: row.id, stream, offset }));
      const { data, nextOffset, isComplete } = read;
      tally.bytes += data.length;
      tally.missing += nextOffset - offset - data.length;
      isEnd = isComplete || nextOffset === offset;
      offset = nextOffset;
      for (const some of finder.cut(decoder.decode(data, { stream: !isEnd }), isEnd)) {
        const found = await turns.take(async () => finder.look(some));
        if (found.length > 0) yield found.map((line) => ({ task, attempt: row.number, stream, ...line }));
        await breath();
      }
    }
    tally.matches += finder.matches;
  }
}

/** Of a line, or all of it. */
interface Part {
  readonly number: number;
  readonly text: string;
}

type Found = Pick<SearchLine, 'line' | 'text' | 'spans' | 'isCut'>;

/** Cuts a stream of text into lines, and gives those that match with what stands around them. */
class LineFinder {
  matches = 0;
  readonly #pattern: Pattern;
  readonly #context: number;
  #rest = '';
  #number = 1;
  /** Lines that may turn out to stand before one that matches. */
  #before: Found[] = [];
  #behind = 0;

  constructor(pattern: Pattern, context: number) {
    this.#pattern = pattern;
    this.#context = context;
  }

  /** Lines, as many as the expression is given at a time. They are cut when they are asked for: a piece of output may be all line feeds. */
  *cut(text: string, isEnd: boolean): Generator<readonly Part[]> {
    let some: Part[] = [];
    let characters = 0;
    for (const part of this.#parts(text, isEnd)) {
      some.push(part);
      characters += part.text.length;
      if (some.length < limits.linesAtOnce && characters < limits.charactersAtOnce) continue;
      yield some;
      some = [];
      characters = 0;
    }
    if (some.length > 0) yield some;
  }

  /** Those that match, with what stands around them. */
  look(some: readonly Part[]): Found[] {
    const texts = some.map(({ text }) => text);
    const places = this.#pattern.find(texts, limits.spansMax, limits.pieceMsMax);
    return some.flatMap(({ number, text }, at) => this.#look(number, text, places[at] ?? []));
  }

  *#parts(text: string, isEnd: boolean): Generator<Part> {
    const all = this.#rest + text;
    let from = 0;
    for (let to = all.indexOf('\n'); to >= 0; to = all.indexOf('\n', from)) {
      yield* this.#numbered(all.slice(from, to));
      from = to + 1;
    }
    this.#rest = all.slice(from);
    for (; this.#rest.length > limits.lineCharactersMax; this.#rest = this.#rest.slice(limits.lineCharactersMax)) {
      yield { number: this.#number, text: this.#rest.slice(0, limits.lineCharactersMax) };
    }
    if (isEnd && this.#rest !== '') yield* this.#numbered(this.#rest);
  }

  /** A line that is too long comes in parts of the same number. */
  *#numbered(line: string): Generator<Part> {
    for (let from = 0; from === 0 || from < line.length; from += limits.lineCharactersMax) {
      yield { number: this.#number, text: line.slice(from, from + limits.lineCharactersMax) };
    }
    this.#number++;
  }

  #look(line: number, text: string, spans: readonly Span[]): Found[] {
    const found = cut(line, text, spans);
    if (spans.length > 0) {
      this.matches++;
      this.#behind = this.#context;
      const before = this.#before;
      this.#before = [];
      return [...before, found];
    }
    if (this.#behind > 0) {
      this.#behind--;
      return [found];
    }
    if (this.#context > 0) this.#before = [...this.#before.slice(1 - this.#context), found].slice(-this.#context);
    return [];
  }
}

/** So much of a line as is told, around its first match. */
function cut(line: number, text: string, spans: readonly Span[]): Found {
  const most = limits.textCharactersMax;
  if (text.length <= most) return { line, text, spans: spans.map(([from, to]) => [from, to]) };
  const begin = Math.max(0, Math.min((spans[0]?.[0] ?? 0) - most / 4, text.length - most));
  const shown = spans
    .filter(([from]) => from < begin + most)
    .map(([from, to]): [number, number] => [from - begin, Math.min(to - begin, most)]);
  return { line, text: text.slice(begin, begin + most), spans: shown, isCut: true };
}
