/** Schemas that have a name of their own: the document writes each once, wherever it is used. */
import * as definition from '../../definition/schema.ts';
import * as spec from '../../protocol/spec.ts';
import * as attempts from '../../protocol/views/attempts.ts';
import * as events from '../../protocol/views/events.ts';
import * as limits from '../../protocol/views/limits.ts';
import * as notifications from '../../protocol/views/notifications.ts';
import * as output from '../../protocol/views/output.ts';
import * as pages from '../../protocol/views/pages.ts';
import * as requests from '../../protocol/views/requests.ts';
import * as resources from '../../protocol/views/resources.ts';
import * as server from '../../protocol/views/server.ts';
import * as statistics from '../../protocol/views/statistics.ts';
import * as submissions from '../../protocol/views/submissions.ts';
import * as tasks from '../../protocol/views/tasks.ts';
import * as tokens from '../../protocol/views/tokens.ts';
import * as why from '../../protocol/views/why.ts';
import * as workers from '../../protocol/views/workers.ts';
import * as workflows from '../../protocol/views/workflows.ts';

export type Json = Readonly<Record<string, unknown>>;

export const isSchema = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && ('type' in value || 'anyOf' in value);

const sources: readonly object[] = [
  ...[definition, spec, attempts, events, limits, notifications, output, pages, requests, resources, server],
  ...[statistics, submissions, tasks, tokens, why, workers, workflows],
];

export const namedSchemas = Object.fromEntries(
  sources.flatMap((source) => Object.entries(source)).filter(([name, value]) => /^[A-Z]/.test(name) && isSchema(value)),
) as Readonly<Record<string, Json>>;
