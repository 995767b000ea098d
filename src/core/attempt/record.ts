/** One attempt in memory, from its record until its end is stored; and the row that the store keeps of it for good. */

import { assert } from '../../model/errors.ts';
import type { AttemptId, TaskId, WorkerId } from '../../model/ids.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { AttemptState } from '../../model/states.ts';
import type { Usage } from '../change.ts';
import type { AttemptView } from './table.ts';

export interface AttemptRow {
  readonly id: AttemptId;
  readonly task: TaskId;
  readonly number: number;
  /** The attempt before this one of the same task, 0 for none: a task's attempts are a list from its last one back. */
  readonly previous: number;
  readonly worker: WorkerId;
  readonly recordedAt: number;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: Outcome | undefined;
  readonly usage: Usage | undefined;
  readonly signalledFor: string | undefined;
}

export interface AttemptRecord extends AttemptRow {
  /** The number of the need that it was recorded with: what it takes of its worker until it ends. */
  readonly need: number;
  /** `sent`, `accepted` and `unsure` are not stored: after a restart the worker is asked. */
  state: AttemptState;
  startedAt: number;
  endedAt: number;
  outcome: Outcome | undefined;
  usage: Usage | undefined;
  signalledFor: string | undefined;
}

/** Field by field: leaving one out of all of them takes ten times as long, and every attempt is written twice. */
export const attemptRow = (record: AttemptRecord): AttemptRow => ({
  id: record.id,
  task: record.task,
  number: record.number,
  previous: record.previous,
  worker: record.worker,
  recordedAt: record.recordedAt,
  startedAt: record.startedAt,
  endedAt: record.endedAt,
  outcome: record.outcome,
  usage: record.usage,
  signalledFor: record.signalledFor,
});

/** A stored attempt as it is known after a restart: it may have been sent, it may have started. */
export const loadAttempt = (row: AttemptRow, need: number): AttemptRecord => ({
  ...row,
  need,
  state: row.outcome !== undefined ? 'ended' : row.startedAt > 0 ? 'running' : 'recorded',
});

export function attemptView({ state, outcome }: AttemptRecord): AttemptView {
  if (state !== 'ended') return { state };
  assert(outcome !== undefined, 'an attempt that ended has an outcome');
  return { state, outcome };
}
