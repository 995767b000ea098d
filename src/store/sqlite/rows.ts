/** Rows as the values of their SQL columns, in the order of the table's columns, and back. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite';
import type { AttemptRow } from '../../core/attempt/record.ts';
import type { Usage } from '../../core/change.ts';
import type { TaskRow } from '../../core/task/columns.ts';
import type { WorkerRow } from '../../core/worker.ts';
import type { WorkflowRow } from '../../core/workflow/record.ts';
import { type Capacity, isSameCapacity, plainCapacity } from '../../model/capacity.ts';
import type { AttemptId, TaskId, WorkerId, WorkflowId } from '../../model/ids.ts';
import { exhaustibles } from '../../model/need.ts';
import {
  edgeKinds,
  haltModes,
  type OutputStream,
  outcomeKinds,
  outputStreams,
  type TaskState,
  taskStates,
  type UsageMetric,
  usageMetrics,
  workerKinds,
  workerStates,
  workflowStates,
} from '../../model/states.ts';
import type { TaskSpec } from '../../protocol/spec.ts';
import type { AdjustmentRow } from '../adjustment-row.ts';
import type { AnswerRow } from '../answer-row.ts';
import type { FailedAttempt, FailureRow, FingerprintRow, TaggedTask } from '../failure-rows.ts';
import { type NoticeRow, noticeStates } from '../notice-row.ts';
import { decodeSeeds } from '../seeds.ts';
import type { EdgeRow, GroupingRow, OutputPiece, SeedRun, TaskDefinition, UsageSample } from '../store.ts';
import type { TokenRow } from '../token-row.ts';

import { unpackEdges } from './edge-packs.ts';

type Values = SQLInputValue[];
/** A row as node:sqlite gives it; each function below knows the types of its table. */
export type Columns = SQLOutputValue[];

const codeOf = <Name extends string>(names: readonly Name[], name: Name): number => names.indexOf(name);

/** The states of tasks are written too often to be looked for in their list. */
const taskStateCodes = Object.fromEntries(taskStates.map((state, code) => [state, code])) as Record<TaskState, number>;

export function workflowValues(row: WorkflowRow, into: Values): void {
  const { id, rules, state, open, stop, haltMode, run, createdAt, startedAt, endedAt, concurrency } = row;
  const mode = haltMode === undefined ? null : codeOf(haltModes, haltMode);
  const stateCode = codeOf(workflowStates, state);
  into.push(id, JSON.stringify(rules), stateCode, Number(open), stop ?? null, mode, run, createdAt, startedAt, endedAt);
  into.push(concurrency === undefined ? null : JSON.stringify(concurrency), row.attemptsBefore);
}

export function workflowRow(columns: Columns): WorkflowRow {
  const [id, rules, state, open, stop, mode, run, createdAt, startedAt, endedAt, concurrency, before] = columns as [
    ...[id: WorkflowId, rules: string, state: number, open: number],
    ...[stop: WorkflowRow['stop'] | null, mode: number | null, run: number],
    ...[createdAt: number, startedAt: number, endedAt: number, concurrency: string | null, before: number],
  ];
  return {
    id,
    rules: JSON.parse(rules) as WorkflowRow['rules'],
    state: workflowStates[state] as WorkflowRow['state'],
    open: open === 1,
    stop: stop ?? undefined,
    haltMode: mode === null ? undefined : haltModes[mode],
    run,
    createdAt,
    startedAt,
    endedAt,
    concurrency: concurrency === null ? undefined : (JSON.parse(concurrency) as WorkflowRow['concurrency']),
    attemptsBefore: before,
  };
}

export function taskValues(row: TaskRow, into: Values): void {
  const { id, state, reason, held, priority, used, attemptNumber, lastAttempt, notBefore } = row;
  into.push(id, taskStateCodes[state], reason, Number(held));
  into.push(used.attempts, used.resources, used.lost, used['never-started']);
  into.push(attemptNumber, lastAttempt, notBefore, priority);
}

export function taskRow(columns: Columns): TaskRow {
  const [id, state, reason, held, attempts, resources, lost, neverStarted, attemptNumber, last, notBefore, priority] =
    columns as [
      ...[id: TaskId, state: number, reason: number, held: number],
      ...[attempts: number, resources: number, lost: number, neverStarted: number],
      ...[attemptNumber: number, last: number, notBefore: number, priority: number],
    ];
  return {
    id,
    state: taskStates[state] as TaskState,
    reason,
    held: held === 1,
    priority,
    used: { attempts, resources, lost, 'never-started': neverStarted },
    attemptNumber,
    lastAttempt: last,
    notBefore,
  };
}

export function attemptValues(row: AttemptRow, into: Values): void {
  const { id, task, number, previous, worker, recordedAt, startedAt, endedAt, outcome, usage, signalledFor } = row;
  into.push(id, task, number, previous, worker, recordedAt, startedAt, endedAt);
  if (outcome === undefined) into.push(null, null);
  else into.push(codeOf(outcomeKinds, outcome.kind), detailOf(outcome));
  into.push(usage?.wallMs ?? null, usage?.cpuMs ?? null, usage?.peakBytes ?? null, signalledFor ?? null);
}

/** What an outcome says beyond its kind; most say nothing. */
function detailOf(outcome: NonNullable<AttemptRow['outcome']>): string | null {
  if (outcome.kind === 'succeeded') return null;
  const { kind: _, ...detail } = outcome;
  return Object.keys(detail).length === 0 ? null : JSON.stringify(detail);
}

export function attemptRow(columns: Columns): AttemptRow {
  const [id, task, number, previous, worker, recordedAt, startedAt, endedAt, outcome, detail, ...rest] = columns as [
    ...[id: AttemptId, task: TaskId, number: number, previous: number, worker: WorkerId],
    ...[recordedAt: number, startedAt: number, endedAt: number, outcome: number | null, detail: string | null],
    ...[wallMs: number | null, cpuMs: number | null, peakBytes: number | null, signalledFor: string | null],
  ];
  const [wallMs, cpuMs, peakBytes, signalledFor] = rest;
  return {
    id,
    task,
    number,
    previous,
    worker,
    recordedAt,
    startedAt,
    endedAt,
    outcome: outcome === null ? undefined : outcomeOf(outcome, detail),
    usage: wallMs === null || cpuMs === null ? undefined : usageOf(wallMs, cpuMs, peakBytes),
    signalledFor: signalledFor ?? undefined,
  };
}

const outcomeOf = (code: number, detail: string | null): AttemptRow['outcome'] =>
  ({ kind: outcomeKinds[code], ...(detail === null ? {} : (JSON.parse(detail) as object)) }) as AttemptRow['outcome'];

const usageOf = (wallMs: number, cpuMs: number, peakBytes: number | null): Usage =>
  peakBytes === null ? { wallMs, cpuMs } : { wallMs, cpuMs, peakBytes };

export function workerValues(row: WorkerRow, into: Values): void {
  const { id, kind, owner, shard, lock, instance, host, slots, state, joinedAt, goneFor, bar, silenceMs } = row;
  const capacity = isSameCapacity(row.capacity, plainCapacity) ? null : JSON.stringify(row.capacity);
  const barred = bar === undefined ? null : JSON.stringify(bar);
  const code = codeOf(workerStates, state);
  into.push(id, shard, lock, instance, host, slots, code, joinedAt, goneFor ?? null, barred, silenceMs);
  into.push(codeOf(workerKinds, kind), owner ?? null, capacity);
}

export function workerRow(columns: Columns): WorkerRow {
  const [id, shard, lock, instance, host, slots, stateCode, joinedAt, ...rest] = columns as [
    ...[id: WorkerId, shard: string, lock: string, instance: string, host: string],
    ...[slots: number, state: number, joinedAt: number, goneFor: string | null, bar: string | null],
    ...[silenceMs: number, kind: number, owner: string | null, capacity: string | null],
  ];
  const [goneFor, barred, silenceMs, kindCode, owner, known] = rest;
  const state = workerStates[stateCode] as WorkerRow['state'];
  const kind = workerKinds[kindCode] as WorkerRow['kind'];
  const bar = barred === null ? undefined : (JSON.parse(barred) as WorkerRow['bar']);
  const capacity = known === null ? plainCapacity : (JSON.parse(known) as Capacity);
  const facts = { id, kind, owner: owner ?? undefined, shard, lock, instance, host, slots, capacity, state, joinedAt };
  return { ...facts, goneFor: goneFor ?? undefined, bar, silenceMs };
}

/** The command apart: it may be large, and JSON would only escape it. One that is kept as a text has its id here. */
export const definitionValues =
  (textOf: (command: string) => number | undefined) =>
  ({ id, workflow, index, spec }: TaskDefinition, into: Values): void => {
    const text = spec.command === undefined ? undefined : textOf(spec.command);
    into.push(id, workflow, index, text === undefined ? (spec.command ?? null) : null, restOf(spec), text ?? null);
  };

/** Of most there is none: all that they have is a command. */
function restOf(spec: TaskSpec): string | null {
  for (const key in spec) {
    if (key === 'command') continue;
    const { command: _, ...rest } = spec;
    return JSON.stringify(rest);
  }
  return null;
}

export function definitionRow(columns: Columns, textOf: (id: number) => string): TaskDefinition {
  type Row = [TaskId, WorkflowId, number, string | null, string | null, number | null];
  const [id, workflow, index, own, rest, text] = columns as Row;
  const command = text === null ? own : textOf(text);
  if (rest === null) return { id, workflow, index, spec: command === null ? {} : { command } };
  const others = JSON.parse(rest) as TaskSpec;
  return { id, workflow, index, spec: command === null ? others : { command, ...others } };
}

export function seedRun(columns: Columns): SeedRun {
  const [first, workflow, firstIndex, seeds] = columns as [TaskId, WorkflowId, number, string];
  return { workflow, first, firstIndex, seeds: decodeSeeds(seeds) };
}

/** Without the key, which is the order of writing. */
export function edgeValues(row: EdgeRow, into: Values): void {
  if (row.type === 'removed') {
    into.push(row.parent, row.parent, row.child, row.child, null);
    return;
  }
  const { parents, children, after } = row.edges;
  into.push(parents.from, parents.to, children.from, children.to, codeOf(edgeKinds, after));
}

/** One, or those of a pack. */
export function edgesOf(columns: Columns): EdgeRow[] {
  type Row = [number, TaskId, TaskId, TaskId, TaskId, number | null, Uint8Array | null];
  const [, parentFrom, parentTo, childFrom, childTo, kind, pack] = columns as Row;
  if (pack !== null) return unpackEdges(pack);
  if (kind === null) return [{ type: 'removed', parent: parentFrom, child: childFrom }];
  const ranges = { parents: { from: parentFrom, to: parentTo }, children: { from: childFrom, to: childTo } };
  return [{ type: 'added', edges: { ...ranges, after: edgeKinds[kind] as (typeof edgeKinds)[number] } }];
}

export function outputValues({ attempt, stream, offset, length, file, position }: OutputPiece, into: Values): void {
  into.push(attempt, codeOf(outputStreams, stream), offset, length, file, position);
}

export function outputPiece(columns: Columns): OutputPiece {
  const [attempt, stream, offset, length, file, position] = columns as [
    ...[attempt: AttemptId, stream: number, offset: number, length: number, file: number, position: number],
  ];
  return { attempt, stream: outputStreams[stream] as OutputStream, offset, length, file, position };
}

export function tokenValues({ id, name, role, hash, createdAt, expiresAt, revokedAt }: TokenRow, into: Values): void {
  into.push(id, name ?? null, role, hash, createdAt, expiresAt ?? null, revokedAt ?? null);
}

export function tokenRow(columns: Columns): TokenRow {
  const [id, name, role, hash, createdAt, expiresAt, revokedAt] = columns as [
    ...[id: number, name: string | null, role: TokenRow['role'], hash: string],
    ...[createdAt: number, expiresAt: number | null, revokedAt: number | null],
  ];
  const ends = { expiresAt: expiresAt ?? undefined, revokedAt: revokedAt ?? undefined };
  return { id, name: name ?? undefined, role, hash, createdAt, ...ends };
}

export function answerValues({ id, key, digest, at, reply }: AnswerRow, into: Values): void {
  into.push(id, key, digest, at, reply);
}

export function answerRow(columns: Columns): AnswerRow {
  const [id, key, digest, at, reply] = columns as [number, string, string, number, string];
  return { id, key, digest, at, reply };
}

export function adjustmentValues(row: AdjustmentRow, into: Values): void {
  const { task, number, need, resource, why, attempt, isRefused, at } = row;
  into.push(task, number, JSON.stringify(need), codeOf(exhaustibles, resource), why, attempt, Number(isRefused), at);
}

export function adjustmentRow(columns: Columns): AdjustmentRow {
  const [task, number, need, resource, why, attempt, refused, at] = columns as [
    ...[task: TaskId, number: number, need: string, resource: number, why: string],
    ...[attempt: AttemptId, refused: number, at: number],
  ];
  const facts = { task, number, need: JSON.parse(need) as AdjustmentRow['need'], why, attempt, at };
  return { ...facts, resource: exhaustibles[resource] as AdjustmentRow['resource'], isRefused: refused === 1 };
}

export function groupingRow(columns: Columns): GroupingRow {
  const [, group, tasks] = columns as [number, string, string];
  return { group, tasks: JSON.parse(tasks) as GroupingRow['tasks'] };
}

export function noticeValues(row: NoticeRow, into: Values): void {
  const { id, workflow, rule, run, at, body, state, tries, dueAt, error } = row;
  into.push(id, workflow, rule, run, at, body, codeOf(noticeStates, state), tries, dueAt, error ?? null);
}

export function noticeRow(columns: Columns): NoticeRow {
  const [id, workflow, rule, run, at, body, state, tries, dueAt, error] = columns as [
    ...[id: number, workflow: WorkflowId, rule: number, run: number, at: number, body: string],
    ...[state: number, tries: number, dueAt: number, error: string | null],
  ];
  const settled = { state: noticeStates[state] as NoticeRow['state'], tries, dueAt, error: error ?? undefined };
  return { id, workflow, rule, run, at, body, ...settled };
}

export function fingerprintValues({ id, name, lines }: FingerprintRow, into: Values): void {
  into.push(id, name, lines);
}

export function fingerprintRow(columns: Columns): FingerprintRow {
  const [id, name, lines] = columns as [number, string, string];
  return { id, name, lines };
}

export function failureValues({ attempt, fingerprint }: FailureRow, into: Values): void {
  into.push(attempt, fingerprint);
}

/** The fingerprint stands before the attempt's own columns. */
export function failedAttempt([fingerprint, ...columns]: Columns): FailedAttempt {
  return { row: attemptRow(columns), fingerprint: fingerprint as number };
}

export function taggedTask(columns: Columns): TaggedTask {
  const [task, tags] = columns as [number, string];
  return { task, tags: JSON.parse(tags) as TaggedTask['tags'] };
}

export const metricCode = (metric: UsageMetric): number => codeOf(usageMetrics, metric);

export function usageSample(columns: Columns): UsageSample {
  const [attempt, metric, , at, value] = columns as [
    ...[attempt: AttemptId, metric: number, number: number, at: number, value: number],
  ];
  return { attempt, metric: usageMetrics[metric] as UsageMetric, at, value };
}
