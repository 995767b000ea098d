import { expect, it } from 'vitest';
import { workflowId } from '../model/ids.ts';
import { noticesMax } from '../model/limits.ts';
import { Notices } from './notices.ts';

const noticeOf = (workflow: number) => ({ workflow: workflowId(workflow), rule: 0, run: 1, body: '{}' });

function full(): Notices {
  const notices = new Notices({ cursor: 0, rows: [] });
  notices.note(
    Array.from({ length: noticesMax }, (_, at) => noticeOf(at + 1)),
    1,
    1_000,
  );
  notices.takeChanges();
  return notices;
}

it('2: past the limit those go first that are settled', () => {
  const notices = full();
  notices.tried({ id: 7, state: 'delivered', dueAt: 2_000, error: undefined });
  notices.note([noticeOf(noticesMax + 1)], 2, 2_000);
  expect(notices.takeChanges()?.removed).toEqual([7]);
});

it('2: where none is settled the oldest go, so that receivers that are away take no more than their place', () => {
  const notices = full();
  notices.note([noticeOf(noticesMax + 1), noticeOf(noticesMax + 2)], 2, 2_000);
  expect(notices.takeChanges()?.removed).toEqual([1, 2]);
  expect([...notices.rows].length).toBe(noticesMax);
  expect([...notices.rows].at(-1)?.id).toBe(noticesMax + 2);
});
