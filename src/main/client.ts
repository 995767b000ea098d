/** `drover/client`: what a program imports that talks to a controller. */
import { DroverError } from '../model/errors.ts';
import { accessPath, readAccessFile } from '../platform/node/access-file.ts';
import { pinnedFetch } from '../platform/node/pinned-fetch.ts';
import type { WorkerRegistration } from '../protocol/http-worker.ts';
import { Client } from '../sdk/client.ts';
import type { Access } from '../sdk/transport.ts';
import { WorkerClient } from '../sdk/worker-client.ts';

export { DroverError, type ErrorCode, type ErrorDetails } from '../model/errors.ts';
export { escapeValue } from '../protocol/filter/language.ts';
export type {
  AvailableField,
  AvailableList,
  ClaimView,
  ExecutionHistory,
  ExecutionInfo,
  HeartbeatAnswer,
  LeaseTerms,
  StopList,
  WorkerRegistration,
} from '../protocol/http-worker.ts';
export type { EdgeSpec, Resources, Tags, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
export type { FailureGroup, FailureList, StatisticsGroup, StatisticsView } from '../protocol/statistics.ts';
export type {
  AttemptList,
  AttemptView,
  BulkResult,
  CountView,
  EventList,
  EventView,
  RetryResult,
  ServerView,
  TaskDetail,
  TaskList,
  TaskView,
  WorkerList,
  WorkerView,
  WorkflowList,
  WorkflowView,
} from '../protocol/views.ts';
export { type BulkOptions, type BulkVerb, Client, type OutputQuery, type StatisticsOptions } from '../sdk/client.ts';
export type { EventOptions, PageOptions } from '../sdk/pages.ts';
export { type SubmissionItem, type SubmitOptions, submit } from '../sdk/submission.ts';
export type { Access, Patience } from '../sdk/transport.ts';
export { type EndOfAttempt, type UsageField, WorkerClient } from '../sdk/worker-client.ts';

/** A client of the controller that an access file tells of: `.drover/access.json` by default. */
export function connect(file: string = accessPath('.drover')): Client {
  return new Client(accessOf(file, 'admin'));
}

/** A worker over HTTP at that controller. */
export function registerWorker(
  registration: WorkerRegistration,
  file: string = accessPath('.drover'),
): Promise<WorkerClient> {
  return WorkerClient.register(accessOf(file, 'worker'), registration);
}

function accessOf(file: string, role: 'admin' | 'worker'): Access {
  const found = readAccessFile(file);
  if (found === undefined) {
    throw new DroverError('controller-unreachable', `there is no access file at ${file}`, {
      hint: "start a controller with 'drover server', or name its access file",
    });
  }
  const { url, tokens, certificate } = found;
  const access: Access = { url, token: tokens[role] };
  return certificate === undefined ? access : { ...access, fetch: pinnedFetch(certificate) };
}
