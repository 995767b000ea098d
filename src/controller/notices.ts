/**
 * What definers want to be told of, and how far that has come.
 *
 * Owns: the rows of notices, and up to where the history was looked through for them. Like tokens they are no part of the
 * cluster, and are committed by the turns: what is told was durable before, and is told again until that it was told is.
 * 1. A notification of a workflow is noted once for each of its runs.
 * 2. An id is never used again. Past `noticesMax` those go that are settled, the oldest first; where all wait, the oldest.
 */
import { DroverError } from '../model/errors.ts';
import type { WorkflowId } from '../model/ids.ts';
import { noticesMax } from '../model/limits.ts';
import { canFail, isWebAddress, whyUnreachable } from '../protocol/notification.ts';
import type { Notification } from '../protocol/spec.ts';
import type { NoticeRow } from '../store/notice-row.ts';

export type NewNotice = Pick<NoticeRow, 'workflow' | 'rule' | 'run' | 'body'>;

/** What came of a try. */
export type Tried = Pick<NoticeRow, 'id' | 'state' | 'dueAt' | 'error'>;

/** What a turn did to them, for its commit. */
export interface NoticeChanges {
  /** All changes up to this one were looked at. */
  readonly cursor: number;
  readonly written: readonly NoticeRow[];
  readonly removed: readonly number[];
}

export class Notices {
  readonly #byId = new Map<number, NoticeRow>();
  readonly #known = new Set<string>();
  #cursor: number;
  #last = 0;
  #isChanged = false;
  #written: NoticeRow[] = [];
  #removed: number[] = [];

  /** In the order of their ids. */
  constructor({ cursor, rows }: { readonly cursor: number; readonly rows: readonly NoticeRow[] }) {
    this.#cursor = cursor;
    for (const row of rows) this.#put(row);
  }

  get cursor(): number {
    return this.#cursor;
  }

  get rows(): Iterable<NoticeRow> {
    return this.#byId.values();
  }

  has(workflow: WorkflowId, rule: number, run: number): boolean {
    return this.#known.has(`${workflow} ${rule} ${run}`);
  }

  note(notices: readonly NewNotice[], cursor: number, now: number): void {
    for (const notice of notices) {
      if (this.has(notice.workflow, notice.rule, notice.run)) continue;
      const id = this.#last + 1;
      this.#write({ id, ...notice, at: now, state: 'pending', tries: 0, dueAt: now, error: undefined });
    }
    if (cursor > this.#cursor) this.#cursor = cursor;
    this.#isChanged = true;
    this.#makeRoom();
  }

  tried({ id, ...outcome }: Tried): void {
    const row = this.#byId.get(id);
    if (row?.state === 'pending') this.#write({ ...row, ...outcome, tries: row.tries + 1 });
  }

  /** What changed since it was last asked; undefined when nothing has. */
  takeChanges(): NoticeChanges | undefined {
    if (!this.#isChanged) return undefined;
    const changes = { cursor: this.#cursor, written: this.#written, removed: this.#removed };
    this.#isChanged = false;
    this.#written = [];
    this.#removed = [];
    return changes;
  }

  #write(row: NoticeRow): void {
    this.#put(row);
    this.#written.push(row);
    this.#isChanged = true;
  }

  #put(row: NoticeRow): void {
    this.#byId.set(row.id, row);
    this.#known.add(`${row.workflow} ${row.rule} ${row.run}`);
    this.#last = Math.max(this.#last, row.id);
  }

  #makeRoom(): void {
    for (const mayGo of [isSettled, () => true]) {
      if (this.#byId.size <= noticesMax) return;
      for (const row of this.#byId.values()) {
        if (this.#byId.size <= noticesMax) return;
        if (row.id !== this.#last && mayGo(row)) this.#remove(row);
      }
    }
  }

  #remove({ id, workflow, rule, run }: NoticeRow): void {
    this.#byId.delete(id);
    this.#known.delete(`${workflow} ${rule} ${run}`);
    this.#removed.push(id);
  }
}

const isSettled = ({ state }: NoticeRow): boolean => state !== 'pending';

/** What can't be told by anybody is refused before the workflow is taken. */
export function checkNotifications(notifications: readonly Notification[]): void {
  for (const [at, notification] of notifications.entries()) {
    const flaw = flawOf(notification);
    if (flaw !== undefined) throw new DroverError('bad-input', `notify[${at}]: ${flaw.why}`, { hint: flaw.hint });
  }
}

interface Flaw {
  readonly why: string;
  readonly hint: string;
}

function flawOf({ webhook, on }: Notification): Flaw | undefined {
  const hint = 'for example https://example.org/hook';
  if (!isWebAddress(webhook)) return { why: 'webhook is no address of http or https', hint };
  const why = whyUnreachable(webhook);
  if (why !== undefined) return { why, hint };
  const { username, password } = new URL(webhook);
  if (username !== '' || password !== '') return { why: 'webhook has a password: use the secret instead', hint };
  if (typeof on !== 'object' || canFail(on.failed)) return undefined;
  return { why: 'more than 100 % can not fail', hint: 'for example 10%, or a number of tasks' };
}
