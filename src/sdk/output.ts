/** What tasks wrote: read, followed and searched. */
import { DroverError, isErrorCode } from '../model/errors.ts';
import { outputHeaders, type SearchEnd, type SearchLine } from '../protocol/views/output.ts';
import type { ErrorBody } from '../protocol/views/requests.ts';
import { apiPath } from './paths.ts';
import type { Transport } from './transport.ts';

export interface OutputQuery {
  readonly stream: 'stdout' | 'stderr';
  /** The last attempt when absent. */
  readonly attempt?: number;
  /** Wait for what is yet to be written, until the attempt has ended. */
  readonly follow?: boolean;
  /** Begin with this byte. */
  readonly offset?: number;
  /** Begin so many bytes before the end as it is now. */
  readonly tailBytes?: number;
  /** Told where the first piece begins. */
  readonly onBegin?: (offset: number) => void;
  /** Told of bytes that are lost: their worker ended before the controller had them, or their file is gone. */
  readonly onMissing?: (bytes: number) => void;
  /** Told, without `follow`, that there may be more: with a worker that can't be asked now. */
  readonly onAway?: () => void;
  /** Told at the end, where the worker of the attempt was lost: what that had not handed over is gone, however much it was. */
  readonly onLost?: () => void;
  /** Ends it, wherever it is. */
  readonly signal?: AbortSignal;
}

/** How long one read that follows output waits for more. */
const followWaitMs = 10_000;

/** The bytes as the task wrote them, piece by piece: what is there now or, with `follow`, all until its end. */
export async function* outputOf(
  transport: Transport,
  task: string,
  query: OutputQuery,
): AsyncGenerator<Uint8Array, void> {
  const { stream, attempt, follow = false, offset: begin = 0, tailBytes, onBegin, onMissing, onAway, signal } = query;
  const waitMs = follow ? followWaitMs : 0;
  let offset = begin;
  let tail = tailBytes;
  // Once the first answer has named the attempt it is held on to, so that a retry can't splice two outputs.
  let number = attempt;
  let missing = 0;
  const tellMissing = (): void => {
    if (missing > 0) onMissing?.(missing);
    missing = 0;
  };
  for (let isFirst = true; ; isFirst = false) {
    const asked = { stream, attempt: number, offset, tail, waitMs: follow ? waitMs : undefined };
    const reply = await transport.get(apiPath(`tasks/${task}/output`, asked), waitMs, signal).catch((error) => {
      if (signal?.aborted) return undefined;
      throw error;
    });
    if (reply === undefined) return;
    const { headers, body } = reply;
    offset = Number(headers.get(outputHeaders.offset) ?? offset);
    if (isFirst) onBegin?.(offset);
    tail = undefined;
    const next = Number(headers.get(outputHeaders.nextOffset) ?? offset + body.length);
    missing += next - offset - body.length;
    const isStuck = next === offset && !follow;
    if (isStuck && headers.get(outputHeaders.isAway) === 'true') onAway?.();
    const isOver = headers.get(outputHeaders.isComplete) === 'true' || isStuck;
    if (body.length > 0 || isOver) tellMissing();
    if (body.length > 0) yield body;
    if (isOver && headers.get(outputHeaders.isLost) === 'true') query.onLost?.();
    if (isOver) return;
    offset = next;
    number ??= Number(headers.get(outputHeaders.attempt)) || undefined;
  }
}

export interface SearchOptions {
  /** A regular expression, as in JavaScript. */
  readonly pattern: string;
  readonly ignoreCase?: boolean;
  readonly stream?: 'stdout' | 'stderr' | 'both';
  /** Lines before and behind each that matches. */
  readonly context?: number;
  /** Of each task; the last one when absent. */
  readonly attempt?: number;
  /** Which tasks. */
  readonly where?: string;
}

/** Lines that match, in the order of the tasks, those that come together at a time; and at the end how much was looked at. */
export async function* searchPieces(
  transport: Transport,
  options: SearchOptions,
): AsyncGenerator<readonly SearchLine[], SearchEnd> {
  const total: SearchEnd = { ...nothingFound };
  for (let cursor: string | undefined; ; ) {
    const { ignoreCase, ...query } = options;
    const path = apiPath('output/search', { ...query, ignoreCase: ignoreCase ? 'true' : undefined, cursor });
    const end = yield* oneSearch(transport, path);
    addFound(total, end);
    cursor = end.next;
    if (cursor === undefined) return total;
  }
}

export async function* searchLines(
  transport: Transport,
  options: SearchOptions,
): AsyncGenerator<SearchLine, SearchEnd> {
  const pieces = searchPieces(transport, options);
  try {
    for (let next = await pieces.next(); ; next = await pieces.next()) {
      if (next.done === true) return next.value;
      yield* next.value;
    }
  } finally {
    await pieces.return(nothingFound);
  }
}

/** It is not begun anew when the connection breaks: what was told would be told again. */
async function* oneSearch(transport: Transport, path: string): AsyncGenerator<readonly SearchLine[], SearchEnd> {
  const call = new AbortController();
  try {
    for await (const told of jsonLines(await transport.stream(path, call.signal))) {
      const last = told.at(-1);
      const isOver = last !== undefined && !isLine(last);
      const found = told.filter(isLine);
      if (found.length > 0) yield found;
      if (isOver && 'error' in last) throw errorOf(last);
      if (isOver) return last;
    }
  } finally {
    call.abort();
  }
  throw new DroverError('controller-unreachable', 'the connection was lost in the midst of a search');
}

export const nothingFound: Readonly<SearchEnd> = { tasks: 0, bytes: 0, matches: 0, missing: 0 };

export function addFound(total: SearchEnd, end: SearchEnd): void {
  for (const name of ['tasks', 'bytes', 'matches', 'missing'] as const) total[name] += end[name];
}

type Told = SearchLine | SearchEnd | ErrorBody;
const isLine = (line: Told): line is SearchLine => 'text' in line;

async function* jsonLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Told[], void> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of body) {
    const lines = (text + decoder.decode(piece, { stream: true })).split('\n');
    text = lines.pop() ?? '';
    yield lines.map((line) => JSON.parse(line) as Told);
  }
}

function errorOf({ error: { code, message, hint } }: ErrorBody): DroverError {
  return new DroverError(isErrorCode(code) ? code : 'bug', message, { hint });
}
