import type { Change, NeedChange } from '../core/change.ts';

/** That an attempt ran out of a resource, and what became of it. */
export interface AdjustmentRow extends NeedChange {
  /** It was not to be had: the task failed, and its need is the one that it was. */
  readonly isRefused: boolean;
  readonly at: number;
}

export function adjustmentsIn(changes: readonly Change[], at: number): AdjustmentRow[] {
  const rows: AdjustmentRow[] = [];
  for (const change of changes) {
    if (change.type !== 'need-adjusted' && change.type !== 'need-refused') continue;
    const { type, ...facts } = change;
    rows.push({ ...facts, isRefused: type === 'need-refused', at });
  }
  return rows;
}
