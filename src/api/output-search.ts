/**
 * A search in the output of tasks, in the order of their ids: read piece by piece, told line by line.
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
import type { SearchEnd, SearchLine } from '../protocol/views.ts';
import { readOutput } from './output.ts';
import { breath } from './query/breath.ts';
import { decodeCursor, encodeCursor } from './query/cursor.ts';
import { planFor } from './query/planning.ts';
import { lastAttempts, selectTasks } from './query/task-selection.ts';

export interface Search {
  readonly filter: Filter;
  readonly pattern: Pattern;
  readonly streams: readonly OutputStream[];
  /** Lines before and behind each that matches. */
  readonly context: number;
  readonly cursor: string | undefined;
}

const order = { list: 'search', sort: 'id' } as const;

interface Tally {
  tasks: number;
  bytes: number;
  matches: number;
  missing: number;
}

export async function* searchOutput(shell: ControllerShell, search: Search): AsyncGenerator<SearchLine | SearchEnd> {
  const plan = await planFor(shell, search.filter);
  const tally: Tally = { tasks: 0, bytes: 0, matches: 0, missing: 0 };
  let after = search.cursor === undefined ? undefined : decodeCursor(order, search.cursor);
  for (;;) {
    const { tasks, reached } = await selectTasks(shell, plan, { after, isDescending: false, most: limits.tasksAtOnce });
    const rows = await lastAttempts(shell, tasks);
    for (const [at, task] of tasks.entries()) {
      const row = rows[at];
      if (row !== undefined) yield* searchTask(shell, search, task, row, tally);
      if (tally.bytes >= limits.bytesMax) return yield { ...tally, next: encodeCursor(order, task) };
    }
    if (reached === undefined) return yield tally;
    after = reached;
    await breath();
  }
}

async function* searchTask(
  shell: ControllerShell,
  { pattern, streams, context }: Search,
  id: TaskId,
  row: AttemptRow,
  tally: Tally,
): AsyncGenerator<SearchLine> {
  const task = await shell.read(({ tasks }) => printTask(tasks.workflow(id), tasks.index(id)));
  tally.tasks++;
  for (const stream of streams) {
    const finder = new LineFinder(pattern, context);
    const lines = (text: string, isEnd: boolean): SearchLine[] =>
      finder.take(text, isEnd).map((found) => ({ task, attempt: row.number, stream, ...found }));
    const decoder = new TextDecoder();
    for (let offset = 0; ; await breath()) {
      const { data, nextOffset, isComplete } = await readOutput(shell, { attempt: row.id, stream, offset });
      tally.bytes += data.length;
      tally.missing += nextOffset - offset - data.length;
      const isEnd = isComplete || nextOffset === offset;
      yield* lines(decoder.decode(data, { stream: !isEnd }), isEnd);
      if (isEnd) break;
      offset = nextOffset;
    }
    tally.matches += finder.matches;
  }
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

  take(text: string, isEnd: boolean): Found[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    const parts = lines.flatMap((line) => this.#numbered(line, true));
    for (; this.#rest.length > limits.lineCharactersMax; this.#rest = this.#rest.slice(limits.lineCharactersMax)) {
      parts.push({ number: this.#number, text: this.#rest.slice(0, limits.lineCharactersMax) });
    }
    if (isEnd && this.#rest !== '') parts.push(...this.#numbered(this.#rest, true));
    if (parts.length === 0) return [];
    const places = this.#pattern.find(
      parts.map((part) => part.text),
      limits.spansMax,
      limits.pieceMsMax,
    );
    return parts.flatMap((part, at) => this.#look(part.number, part.text, places[at] ?? []));
  }

  /** A line that is too long comes in parts of the same number. */
  #numbered(line: string, isWhole: boolean): { number: number; text: string }[] {
    const parts: { number: number; text: string }[] = [];
    for (let from = 0; from === 0 || from < line.length; from += limits.lineCharactersMax) {
      parts.push({ number: this.#number, text: line.slice(from, from + limits.lineCharactersMax) });
    }
    if (isWhole) this.#number++;
    return parts;
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
