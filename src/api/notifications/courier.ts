/**
 * Tells notices to the webhooks that want them, until each is told or given up.
 *
 * Owns: the calls that are under way, and when the next one is due. What was told, and what is to be tried again, is in
 * the rows of notices: a controller that is killed goes on where it was, and tells again what it can't be sure of.
 * 1. A notice is told by one call at a time; up to `callsMax` calls are under way, up to `callsOfReceiverMax` of them to one
 *    receiver.
 * 2. A secret signs, and is sent nowhere.
 */
import type { Tried } from '../../controller/notices.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import { webhookLimits as limits, noticesMax } from '../../model/limits.ts';
import type { Log, Webhooks } from '../../platform/env.ts';
import type { NoticeRow } from '../../store/notice-row.ts';

export interface CourierOptions {
  readonly shell: ControllerShell;
  readonly webhooks: Webhooks;
  readonly log: Log;
  readonly version: string;
  /** The HMAC-SHA256 of a text, in hex. */
  sign(secret: string, text: string): string;
}

/** How receivers know what they get. */
export const webhookHeaders = {
  delivery: 'x-drover-delivery',
  event: 'x-drover-event',
  timestamp: 'x-drover-timestamp',
  signature: 'x-drover-signature',
} as const;

export class Courier {
  readonly #options: CourierOptions;
  readonly #calls = new Map<number, Promise<void>>();
  /** Whom notifications are told, as far as that was looked up lately; and how many calls to each are under way. */
  readonly #receivers = new Map<string, string>();
  readonly #busy = new Map<string, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(options: CourierOptions) {
    this.#options = options;
  }

  /** Looks for what is due. */
  wake(): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    const { shell } = this.#options;
    const now = shell.now();
    let next = Number.POSITIVE_INFINITY;
    for (const row of shell.controller.notices.rows) {
      if (row.state !== 'pending' || this.#calls.has(row.id)) continue;
      if (row.dueAt > now) next = Math.min(next, row.dueAt);
      else if (this.#calls.size < limits.callsMax && !this.#isBusy(this.#receivers.get(keyOf(row)))) this.#begin(row);
    }
    if (next < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.wake(), next - now).unref();
  }

  /** Waits for the calls that are under way, but not for long. */
  async close(): Promise<void> {
    this.wake();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const timeout = new Promise((resolve) => setTimeout(resolve, limits.closeMsMax).unref());
    await Promise.race([Promise.all(this.#calls.values()), timeout]);
  }

  #begin(row: NoticeRow): void {
    const call = this.#tell(row).then(
      () => {
        this.#calls.delete(row.id);
        this.wake();
      },
      // It stays among the calls: the controller itself is in trouble, and the next one tries again.
      (error: unknown) => this.#options.log.error({ err: error, notice: row.id }, 'a notice could not be told'),
    );
    this.#calls.set(row.id, call);
  }

  async #tell(row: NoticeRow): Promise<void> {
    const { shell, webhooks, log } = this.#options;
    const rule = (await shell.store.workflowSpec(row.workflow))?.notify?.[row.rule];
    if (rule === undefined)
      return this.#settle({ id: row.id, state: 'given-up', dueAt: shell.now(), error: 'it is not known whom to tell' });
    const { origin } = new URL(rule.webhook);
    this.#remember(row, origin);
    // It is looked at again when one of the calls to that receiver ends.
    if (this.#isBusy(origin)) return;
    const headers = this.#headersOf(row, rule.secret);
    this.#busy.set(origin, this.#callsTo(origin) + 1);
    const answer = await webhooks.post({ url: rule.webhook, headers, body: row.body, msMax: limits.callMsMax });
    this.#busy.set(origin, this.#callsTo(origin) - 1);
    if (this.#callsTo(origin) === 0) this.#busy.delete(origin);
    const tried = triedBy(row, answer, shell.now());
    if (tried.state !== 'delivered') {
      const facts = { notice: row.id, host: new URL(rule.webhook).host, tries: row.tries + 1, why: tried.error };
      log.warn(facts, tried.state === 'given-up' ? 'a webhook was given up' : 'a webhook did not take a notice');
    }
    await this.#settle(tried);
  }

  #callsTo(receiver: string): number {
    return this.#busy.get(receiver) ?? 0;
  }

  #isBusy(receiver: string | undefined): boolean {
    return receiver !== undefined && this.#callsTo(receiver) >= limits.callsOfReceiverMax;
  }

  #remember(row: NoticeRow, receiver: string): void {
    if (this.#receivers.size >= noticesMax) this.#receivers.clear();
    this.#receivers.set(keyOf(row), receiver);
  }

  async #settle(tried: Tried): Promise<void> {
    await this.#options.shell.request({ type: 'notice-tried', tried });
  }

  #headersOf({ id, body }: NoticeRow, secret: string | undefined): Record<string, string> {
    const { sign, version, shell } = this.#options;
    const timestamp = String(Math.floor(shell.now() / 1_000));
    const { event } = JSON.parse(body) as { event: string };
    return {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': `drover/${version}`,
      [webhookHeaders.delivery]: `n${id}`,
      [webhookHeaders.event]: event,
      [webhookHeaders.timestamp]: timestamp,
      ...(secret === undefined ? {} : { [webhookHeaders.signature]: `sha256=${sign(secret, `${timestamp}.${body}`)}` }),
    };
  }
}

const keyOf = ({ workflow, rule }: NoticeRow): string => `${workflow} ${rule}`;

/** 410 says that nobody is there any more; everything else that is not 2xx may pass. */
function triedBy({ id, at, tries }: NoticeRow, answer: Awaited<ReturnType<Webhooks['post']>>, now: number): Tried {
  const status = 'status' in answer ? answer.status : 0;
  if (status >= 200 && status < 300) return { id, state: 'delivered', dueAt: now, error: undefined };
  const error = 'error' in answer ? answer.error : `it answered with ${status}`;
  const { first, max } = limits.retryMs;
  const dueAt = now + Math.min(max, first * 2 ** Math.min(tries, 30));
  const isOver = status === 410 || dueAt - at > limits.msMax;
  return { id, state: isOver ? 'given-up' : 'pending', dueAt: isOver ? now : dueAt, error };
}
