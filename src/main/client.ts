/** `drover/client`: what a program imports that talks to a controller. */
import { DroverError } from '../model/errors.ts';
import { accessPath, readAccessFile } from '../platform/node/access-file.ts';
import { pinnedFetch } from '../platform/node/pinned-fetch.ts';
import { digest } from '../platform/node/secrets.ts';
import type { WorkerRegistration } from '../protocol/http-worker.ts';
import { Client } from '../sdk/client.ts';
import type { Access } from '../sdk/transport.ts';
import { WorkerClient } from '../sdk/worker-client.ts';
import { Workflow, type WorkflowOptions } from '../sdk/workflow.ts';

export type { Flow, Surroundings } from '../definition/compile.ts';
export type { Definition } from '../definition/schema.ts';
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
export type { EdgeSpec, Notification, Resources, Tags, TaskBatch, TaskSpec, WorkflowSpec } from '../protocol/spec.ts';
export type { AttemptList, AttemptView } from '../protocol/views/attempts.ts';
export type { EventList, EventView } from '../protocol/views/events.ts';
export type { SearchEnd, SearchLine } from '../protocol/views/output.ts';
export type { CountView } from '../protocol/views/pages.ts';
export type { ServerView } from '../protocol/views/server.ts';
export type { FailureGroup, FailureList, StatisticsGroup, StatisticsView } from '../protocol/views/statistics.ts';
export type { BulkResult, TaskDetail, TaskList, TaskView } from '../protocol/views/tasks.ts';
export type { WorkerList, WorkerView } from '../protocol/views/workers.ts';
export type { RetryResult, WorkflowList, WorkflowView } from '../protocol/views/workflows.ts';
export type { BulkOptions, BulkVerb } from '../sdk/bulk.ts';
export { Client } from '../sdk/client.ts';
export type { EventStreamOptions } from '../sdk/event-stream.ts';
export type { FlowSubmission } from '../sdk/flow-submission.ts';
export type { OutputQuery, SearchOptions } from '../sdk/output.ts';
export type { EventOptions, PageOptions } from '../sdk/pages.ts';
export type { DefinitionRequest, StatisticsOptions, WorkflowWait } from '../sdk/requests.ts';
export { type SubmissionItem, type SubmitOptions, submit } from '../sdk/submission.ts';
export {
  any,
  command,
  type Dependency,
  join,
  type Needs,
  type TaskNode,
  type TaskOptions,
  type Template,
  type TemplateOptions,
  template,
} from '../sdk/task-nodes.ts';
export type { Access, Patience } from '../sdk/transport.ts';
export type { UsageOverTime, UsagePoint } from '../sdk/usage-series.ts';
export { type EndOfAttempt, type UsageField, WorkerClient } from '../sdk/worker-client.ts';
export type { SubmitFlowOptions, Workflow, WorkflowOptions } from '../sdk/workflow.ts';

/** A workflow to be filled and submitted: its tasks run where this program does, with its environment. */
export function workflow(name: string, options: WorkflowOptions = {}): Workflow {
  return new Workflow({ digest, surroundings: surroundingsHere, connect }, name, options);
}

function surroundingsHere() {
  const cwd = process.cwd();
  const given = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const env = Object.fromEntries(given.filter(([name]) => !ofTheShell.has(name) && !name.startsWith('DROVER_')));
  return { cwd, shell: '/bin/sh', env: { ...env, PWD: cwd } };
}

/** They tell of the shell that started this program, not of its user's wishes. */
const ofTheShell = new Set(['_', 'SHLVL', 'OLDPWD', 'PWD']);

export interface ConnectOptions {
  /** How long a controller that is away is waited for: it may come back at another address. A few seconds when absent. */
  readonly patienceMs?: number;
  onAway?(error: DroverError): void;
  onBack?(): void;
}

/** A client of the controller that an access file tells of: `.drover/access.json` by default. */
export function connect(file: string = accessPath('.drover'), options: ConnectOptions = {}): Client {
  const { patienceMs, onAway = () => {}, onBack = () => {} } = options;
  if (patienceMs === undefined) return new Client(accessOf(file, 'admin'));
  const addresses = (): Access[] => (readAccessFile(file) === undefined ? [] : [accessOf(file, 'admin')]);
  return new Client(accessOf(file, 'admin'), { ms: patienceMs, addresses, onAway, onBack });
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
