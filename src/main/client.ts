/** `drover/client`: what a program imports that talks to a controller. */
import { DroverError } from '../model/errors.ts';
import { accessPath, readAccessFile } from '../platform/node/access-file.ts';
import { pinnedFetch } from '../platform/node/pinned-fetch.ts';
import { Client } from '../sdk/client.ts';
import type { Access } from '../sdk/transport.ts';

export { DroverError, type ErrorCode, type ErrorDetails } from '../model/errors.ts';
export { escapeValue } from '../protocol/filter/language.ts';
export type { EdgeSpec, Resources, Tags, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
export type {
  AttemptList,
  AttemptView,
  BulkResult,
  CountView,
  EventList,
  EventView,
  FailureList,
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
export { type BulkOptions, type BulkVerb, Client, type OutputQuery } from '../sdk/client.ts';
export type { EventOptions, PageOptions } from '../sdk/pages.ts';
export { type SubmissionItem, type SubmitOptions, submit } from '../sdk/submission.ts';
export type { Access, Patience } from '../sdk/transport.ts';

/** A client of the controller that an access file tells of: `.drover/access.json` by default. */
export function connect(file: string = accessPath('.drover')): Client {
  const found = readAccessFile(file);
  if (found === undefined) {
    throw new DroverError('controller-unreachable', `there is no access file at ${file}`, {
      hint: "start a controller with 'drover server', or name its access file",
    });
  }
  const { url, tokens, certificate } = found;
  const access: Access = { url, token: tokens.admin };
  return new Client(certificate === undefined ? access : { ...access, fetch: pinnedFetch(certificate) });
}
