/**
 * One request to a controller and what may become of it. A refusal comes back as the controller's own DroverError;
 * whatever keeps the two from talking is `controller-unreachable`.
 * Reads are repeated when the connection fails: a few times, or, with patience, until the controller is back, wherever
 * that is. So are changes that have an idempotency key. Another one is not, since it may have been made.
 */
import { DroverError, type ErrorCode, type ErrorDetails, isErrorCode } from '../model/errors.ts';
import { idempotencyHeader } from '../protocol/views/requests.ts';
import { pause } from './pause.ts';

export interface Access {
  readonly url: string;
  readonly token: string;
  /** For a controller whose certificate is pinned; the global one otherwise. */
  readonly fetch?: typeof fetch;
}

export interface Reply {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

interface Question {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly content?: string | Uint8Array<ArrayBuffer>;
  readonly msMax?: number;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** By which the controller knows it again. */
  readonly key?: string;
}

/** For those who outlast the controller: a server is restarted, and may then be at another address. */
export interface Patience {
  readonly ms: number;
  /** Where it may be now, in the order in which to try. */
  addresses(): readonly Access[];
  /** Once for each absence. */
  onAway(error: DroverError): void;
  onBack(): void;
}

/** Between the tries of a read. */
const retryPauseMs = { first: 100, max: 1_000 } as const;
/** Without patience. */
const retryMsMax = 3_000;
/** A controller answers within milliseconds; one that takes this long, beyond the wait asked for, hangs. */
const answerMsMax = 60_000;
const probeMsMax = 5_000;
/** How long one who is told to ask less often waits for his turn. */
const hurryMsMax = 30_000;

const jsonType = 'application/json';
const bytesType = 'application/octet-stream';

export class Transport {
  private access: Access;
  private readonly patience: Patience | undefined;
  private isAway = false;

  constructor(access: Access, patience?: Patience) {
    this.access = access;
    this.patience = patience;
  }

  /** `waitMs`: how long the controller was asked to wait for news. */
  get(path: string, waitMs = 0, signal?: AbortSignal): Promise<Reply> {
    const question: Question = { method: 'GET', path, msMax: answerMsMax + waitMs, ...(signal && { signal }) };
    return this.untilAnswered(() => this.request(question), signal);
  }

  /** Asks as often as it takes: it is made once, and its answer is the first one's. Not before the other is answered. */
  async postOnce(path: string, content: unknown, before?: Promise<unknown>): Promise<Reply> {
    const question = { method: 'POST', path, content: JSON.stringify(content), key: crypto.randomUUID() } as const;
    await before;
    return this.untilAnswered(() => this.request(question));
  }

  /** Opens a stream: resolves when it begins. It goes on until `signal`, or until it breaks. */
  stream(path: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.untilAnswered(async () => {
      const response = await this.begin(path, { method: 'GET', signal });
      if (!response.ok) throw this.refusal(response.status, await this.bodyOf(response));
      return response.body as AsyncIterable<Uint8Array>;
    }, signal);
  }

  /** What was ended by its asker is not asked again. */
  private async untilAnswered<Answer>(ask: () => Promise<Answer>, signal?: AbortSignal): Promise<Answer> {
    const deadline = performance.now() + (this.patience?.ms ?? retryMsMax);
    let pauseMs: number = retryPauseMs.first;
    for (let failures = 0; ; failures++) {
      try {
        const reply = await ask();
        this.onAnswer();
        return reply;
      } catch (error) {
        if (signal?.aborted || !this.mayPass(error) || performance.now() >= deadline) throw error;
        this.onAbsence(error, failures);
      }
      await pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, retryPauseMs.max);
    }
  }

  private mayPass(error: unknown): error is DroverError {
    if (this.patience === undefined) return error instanceof ConnectionFailure;
    return error instanceof DroverError && absences.includes(error.code);
  }

  private onAbsence(error: DroverError, failures: number): void {
    const addresses = this.patience?.addresses() ?? [];
    this.access = addresses[failures % Math.max(1, addresses.length)] ?? this.access;
    // One failure is a hiccup, of which nobody needs to hear.
    if (failures === 0 || this.isAway) return;
    this.isAway = true;
    this.patience?.onAway(error);
  }

  private onAnswer(): void {
    if (this.isAway) this.patience?.onBack();
    this.isAway = false;
  }

  /** Asks once and for a short time: to find out whether anybody is there. */
  probe(path: string): Promise<Reply> {
    return this.request({ method: 'GET', path, msMax: probeMsMax });
  }

  post(path: string, content: unknown = {}, waitMs = 0): Promise<Reply> {
    return this.change('POST', path, content, waitMs);
  }

  /** Asked once: it may have been made when no answer comes. */
  change(method: 'POST' | 'PATCH' | 'PUT', path: string, content: unknown, waitMs = 0): Promise<Reply> {
    return this.request({ method, path, content: JSON.stringify(content), msMax: answerMsMax + waitMs });
  }

  /** A change that does nothing when it is made again. */
  repeat(method: 'POST' | 'PATCH' | 'PUT', path: string, content: unknown): Promise<Reply> {
    return this.untilAnswered(() => this.change(method, path, content));
  }

  /** Bytes, likewise. */
  put(path: string, bytes: Uint8Array): Promise<Reply> {
    const content = new Uint8Array(bytes);
    return this.untilAnswered(() => this.request({ method: 'PUT', path, content }));
  }

  /** Sends lines of JSON as they come, no faster than the controller takes them. */
  postLines(path: string, lines: AsyncIterable<unknown> | Iterable<unknown>): Promise<Reply> {
    const body = ReadableStream.from(encodedLines(lines));
    // Half duplex: the answer comes after the last line, or before it if one was refused.
    const init = { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body, duplex: 'half' };
    return this.send(path, init as RequestInit);
  }

  delete(path: string): Promise<Reply> {
    return this.request({ method: 'DELETE', path });
  }

  /** One that came too soon was not looked at: whatever it asks for, it is asked again. */
  private async request(question: Question): Promise<Reply> {
    for (const deadline = performance.now() + hurryMsMax; ; ) {
      try {
        return await this.requestOnce(question);
      } catch (error) {
        const isHurry = error instanceof DroverError && error.code === 'too-many-requests';
        const waitMs = isHurry ? Number(error.details?.retryAfterMs ?? retryPauseMs.max) : Number.NaN;
        if (!(performance.now() + waitMs < deadline)) throw error;
        await pause(waitMs);
      }
    }
  }

  private requestOnce({ method, path, content, msMax = answerMsMax, signal, key }: Question): Promise<Reply> {
    const tooLong = AbortSignal.timeout(msMax);
    return this.send(path, {
      method,
      headers: {
        ...(content === undefined ? {} : { 'content-type': typeof content === 'string' ? jsonType : bytesType }),
        ...(key === undefined ? {} : { [idempotencyHeader]: key }),
      },
      ...(content === undefined ? {} : { body: content }),
      signal: signal === undefined ? tooLong : AbortSignal.any([tooLong, signal]),
    });
  }

  private async send(path: string, init: RequestInit): Promise<Reply> {
    const response = await this.begin(path, init);
    const body = await this.bodyOf(response);
    if (!response.ok) throw this.refusal(response.status, body);
    return { headers: response.headers, body };
  }

  private async begin(path: string, init: RequestInit): Promise<Response> {
    const { url, token, fetch: ask = fetch } = this.access;
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
    try {
      return await ask(new URL(path, url), { ...init, headers, redirect: 'error' });
    } catch (error) {
      throw new ConnectionFailure(new URL(url).origin, error);
    }
  }

  /** A connection that breaks within the body is as good as one that was never there. */
  private async bodyOf(response: Response): Promise<Uint8Array> {
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw new ConnectionFailure(new URL(this.access.url).origin, error);
    }
  }

  private refusal(status: number, body: Uint8Array): DroverError {
    const error = errorOf(body);
    if (error === undefined) {
      return new DroverError(
        'controller-unreachable',
        `what answers at ${new URL(this.access.url).origin} is not a controller (status ${status})`,
      );
    }
    const { code, message, hint, details } = error;
    if (isErrorCode(code)) {
      return new DroverError(code, message, { hint, ...(details === undefined ? {} : { details }) });
    }
    return new DroverError(status < 500 ? 'bad-input' : 'bug', message, { hint, details: { ...details, code } });
  }
}

/** Many to a piece: a piece of its own for each line would be most of the work. */
const pieceCharacters = 64 * 1024;

async function* encodedLines(lines: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder();
  let text = '';
  for await (const line of lines) {
    text += `${JSON.stringify(line)}\n`;
    if (text.length < pieceCharacters) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}

const absences: readonly ErrorCode[] = ['controller-unreachable', 'controller-stopping'];

class ConnectionFailure extends DroverError {
  constructor(origin: string, cause: unknown) {
    super('controller-unreachable', `no answer from the controller at ${origin}: ${reasonOf(cause)}`, { cause });
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return cause.message || code || error.message;
}

export function parseJson(body: Uint8Array): unknown {
  return JSON.parse(new TextDecoder().decode(body));
}

interface WireError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly details: ErrorDetails | undefined;
}

/** Read with care: what answers may be anything that listens at that port. */
function errorOf(body: Uint8Array): WireError | undefined {
  try {
    const error = fieldsOf(fieldsOf(parseJson(body))?.error);
    if (typeof error?.code !== 'string' || typeof error.message !== 'string') return undefined;
    const hint = typeof error.hint === 'string' ? error.hint : '';
    return { code: error.code, message: error.message, hint, details: fieldsOf(error.details) };
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? { ...value } : undefined;
}
