/**
 * Output that is still with workers: what the controller has to fetch, and what clients ask to see of running tasks.
 *
 * Owns: the output links, the questions that are under way on them, the stretches that are missing, by worker.
 * 1. One stretch per worker is under way at a time: a worker that printed a gigabyte delays nobody else.
 * 2. A question ends with its link: a client's is answered with nothing, a stretch is asked for again on the next link.
 * 3. A worker is told to drop an attempt's output in the step that makes the last of it durable, not before.
 */
import type { AttemptId, WorkerId } from '../model/ids.ts';
import { outputChunkBytesMax } from '../model/limits.ts';
import type { OutputStream } from '../model/states.ts';
import type { FromWorker } from '../protocol/worker.ts';
import type { Effect, LinkId, Request } from './messages.ts';
import type { OutputCustody } from './output-custody.ts';

/** A stretch of a stream that is still with the worker. */
export interface Pull {
  readonly attempt: AttemptId;
  readonly stream: OutputStream;
  readonly offset: number;
  readonly end: number;
}

type Output = Extract<FromWorker, { readonly t: 'output' }>;
type ReadOutput = Extract<Request, { readonly type: 'read-output' }>;

type Question = { readonly link: LinkId } & (
  | { readonly for: 'client'; readonly ticket: number }
  | { readonly for: 'custody'; readonly worker: WorkerId; readonly pull: Pull }
);

export class OutputPulls {
  readonly #custody: OutputCustody;
  readonly #links = new Map<WorkerId, LinkId>();
  readonly #workers = new Map<LinkId, WorkerId>();
  /** Of whom a stretch is asked for. */
  readonly #asked = new Set<WorkerId>();
  readonly #questions = new Map<number, Question>();
  readonly #missing = new Map<WorkerId, Pull[]>();
  #lastRequest = 0;

  constructor(custody: OutputCustody) {
    this.#custody = custody;
  }

  /** Stretches that are still with workers. */
  get left(): number {
    let left = 0;
    for (const pulls of this.#missing.values()) left += pulls.length;
    return left;
  }

  isPullingFrom(worker: WorkerId): boolean {
    return this.#missing.has(worker);
  }

  /** Who has output of an attempt that has ended; undefined when all of it is here, or lost. */
  holderOf(attempt: AttemptId): WorkerId | undefined {
    for (const [worker, pulls] of this.#missing) if (pulls.some((pull) => pull.attempt === attempt)) return worker;
    return undefined;
  }

  /** Whether it can be asked for output now. */
  reaches(worker: WorkerId): boolean {
    return this.#links.has(worker);
  }

  onOpened(worker: WorkerId, link: LinkId, effects: Effect[]): void {
    this.#links.set(worker, link);
    this.#workers.set(link, worker);
    this.#ask(worker, effects);
  }

  onClosed(link: LinkId, effects: Effect[]): void {
    const worker = this.#workers.get(link);
    this.#workers.delete(link);
    if (worker !== undefined && this.#links.get(worker) === link) this.#links.delete(worker);
    for (const [request, question] of this.#questions) {
      if (question.link !== link) continue;
      this.#questions.delete(request);
      if (question.for === 'custody') {
        this.#asked.delete(question.worker);
        this.#ask(question.worker, effects);
      } else effects.push({ type: 'reply', ticket: question.ticket, reply: { type: 'output', live: undefined } });
    }
  }

  /** Adds what an end left behind. An attempt that is pulled already starts over: pieces have fixed bounds. */
  need(worker: WorkerId, pulls: readonly Pull[], effects: Effect[]): void {
    if (pulls.length === 0) return;
    const again = new Set(pulls.map(({ attempt }) => attempt));
    const others = (this.#missing.get(worker) ?? []).filter(({ attempt }) => !again.has(attempt));
    this.#missing.set(worker, [...others, ...pulls]);
    this.#ask(worker, effects);
  }

  /** The worker is gone, and with it what it had. */
  forget(worker: WorkerId): void {
    this.#missing.delete(worker);
  }

  /** Asks the worker for a client; returns whether it could. */
  read(ticket: number, worker: WorkerId, { attempt, stream, offset, limit }: ReadOutput, effects: Effect[]): boolean {
    const link = this.#links.get(worker);
    if (link === undefined) return false;
    const request = this.#question({ link, for: 'client', ticket });
    effects.push({ type: 'send', link, message: { t: 'fetch', request, attempt, stream, offset, limit } });
    return true;
  }

  onOutput(link: LinkId, { request, data, bytes, isOpen, isGone }: Output, effects: Effect[]): void {
    const question = this.#questions.get(request);
    if (question === undefined || question.link !== link) return;
    this.#questions.delete(request);
    const content = isGone ? undefined : Buffer.from(data, 'base64');
    if (question.for === 'custody') {
      this.#asked.delete(question.worker);
      return this.#onPulled(question.worker, question.pull, content, effects);
    }
    const live = content === undefined ? undefined : { data: content, bytes, isOpen };
    effects.push({ type: 'reply', ticket: question.ticket, reply: { type: 'output', live } });
  }

  #question(question: Question): number {
    this.#lastRequest++;
    this.#questions.set(this.#lastRequest, question);
    return this.#lastRequest;
  }

  /** Asks for the next stretch that is missing, unless one is under way. */
  #ask(worker: WorkerId, effects: Effect[]): void {
    const pull = this.#missing.get(worker)?.[0];
    const link = this.#links.get(worker);
    if (pull === undefined || link === undefined || this.#asked.has(worker)) return;
    this.#asked.add(worker);
    const request = this.#question({ link, for: 'custody', worker, pull });
    const { attempt, stream, offset, end } = pull;
    const limit = Math.min(outputChunkBytesMax, end - offset);
    effects.push({ type: 'send', link, message: { t: 'fetch', request, attempt, stream, offset, limit } });
  }

  /** No bytes although there should be: the task has cut its own output, and what is gone is gone. */
  #onPulled(worker: WorkerId, pull: Pull, data: Uint8Array | undefined, effects: Effect[]): void {
    const pulls = this.#missing.get(worker) ?? [];
    const [first, ...others] = pulls;
    if (first !== pull) return this.#ask(worker, effects);
    const offset = pull.offset + (data?.length ?? 0);
    if (data !== undefined) this.#custody.keep(pull.attempt, pull.stream, pull.offset, data);
    const isOver = data === undefined || data.length === 0 || offset >= pull.end;
    const left = isOver ? others : [{ ...pull, offset }, ...others];
    if (left.length > 0) this.#missing.set(worker, left);
    else this.#missing.delete(worker);
    const link = this.#links.get(worker);
    const isWhole = !left.some(({ attempt }) => attempt === pull.attempt);
    if (isWhole && link !== undefined) {
      effects.push({ type: 'send', link, message: { t: 'drop-output', attempts: [pull.attempt] } });
    }
    this.#ask(worker, effects);
  }
}
