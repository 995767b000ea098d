import type { WorkflowId } from '../model/ids.ts';

export const noticeStates = ['pending', 'delivered', 'given-up'] as const;
export type NoticeState = (typeof noticeStates)[number];

/** Something that somebody wanted to be told of has happened: what is to be told, and how far that has come. */
export interface NoticeRow {
  readonly id: number;
  readonly workflow: WorkflowId;
  /** Which of the notifications that its specification asks for, counted from 0. */
  readonly rule: number;
  /** The run of the workflow: each notification is told once for each. */
  readonly run: number;
  readonly at: number;
  /** As it is told. */
  readonly body: string;
  readonly state: NoticeState;
  readonly tries: number;
  /** The next try, or when it was settled. */
  readonly dueAt: number;
  /** What went wrong last. */
  readonly error: string | undefined;
}
