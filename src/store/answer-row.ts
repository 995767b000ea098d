/** What a request with an idempotency key was answered. */
export interface AnswerRow {
  /** In the order of their asking. */
  readonly id: number;
  /** Who asked, and his key. */
  readonly key: string;
  /** Of all that was asked: another request under the same key is a mistake. */
  readonly digest: string;
  readonly at: number;
  /** As JSON. */
  readonly reply: string;
}
