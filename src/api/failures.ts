/** Failed tasks of a workflow, grouped by how they failed: a look at memory, and at the output of an example of each group. */
import { shownLine } from '../controller/failures/fold.ts';
import type { ControllerShell } from '../controller/shell.ts';
import { typeable } from '../definition/shell/quoting.ts';
import { type FailureCause, failsAtOnce, showCause } from '../model/failure-cause.ts';
import { type AttemptId, printTask, printWorkflow, type TaskId, type WorkflowId } from '../model/ids.ts';
import { failureLimits, outputTailBytesMax } from '../model/limits.ts';
import { taskFields } from '../protocol/filter/fields.ts';
import { escapeValue, parseFilter } from '../protocol/filter/language.ts';
import type { FailureGroup, FailureList } from '../protocol/views/statistics.ts';
import { storedOutput } from './output.ts';
import { type FailureValues, failureValues, noFingerprint, unknownFailure } from './query/failure-values.ts';
import { planTasks } from './query/task-plan.ts';
import { walkAll } from './query/walk-all.ts';
import { optional } from './render.ts';
import { shortfallsOf } from './task-resources.ts';

const lastLinesMax = 3;
const lastCharactersMax = 2_000;
const commandCharactersMax = 500;

interface Group {
  readonly cause: FailureCause;
  readonly fingerprint: number;
  /** Where all of them ran, if they are told apart by that. */
  readonly host: string | undefined;
  readonly examples: TaskId[];
  readonly hosts: Map<string, number>;
  count: number;
}

export interface FailureOptions {
  /** Groups are told apart by host, too. */
  readonly isByHost: boolean;
}

export async function failuresOf(
  shell: ControllerShell,
  workflow: WorkflowId,
  { isByHost }: FailureOptions,
): Promise<FailureList> {
  await shell.read((cluster) => cluster.workflow(workflow));
  await shell.observations.failuresKnown();
  const failures = failureValues(shell);
  const groups = await gather(shell, workflow, failures, isByHost);
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  const [shown, rest] = [sorted.slice(0, failureLimits.groupsMax), sorted.slice(failureLimits.groupsMax)];
  const namer = new Namer(workflow, failures, sorted);
  const views: FailureGroup[] = [];
  for (const group of shown) views.push(await renderGroup(shell, group, failures, namer));
  const tasks = rest.reduce((sum, { count }) => sum + count, 0);
  return { groups: views, ...(rest.length === 0 ? {} : { more: { groups: rest.length, tasks } }) };
}

/** A task whose failure nobody knows is of an unknown end, which there is none of. */
async function gather(
  shell: ControllerShell,
  workflow: WorkflowId,
  failures: FailureValues,
  isByHost: boolean,
): Promise<Map<string, Group>> {
  const own = parseFilter(`workflow=${printWorkflow(workflow)}&state=failed`, taskFields, 0);
  const plan = planTasks(own, failures);
  const groups = new Map<string, Group>();
  await walkAll(shell, plan, (cluster, found) => {
    for (const task of found) {
      const { cause, fingerprint, host } = failures.of(cluster, task) ?? unknownFailure;
      const group = groupOf(groups, cause, fingerprint, isByHost ? host : undefined);
      group.count++;
      if (group.examples.length < failureLimits.examplesMax) group.examples.push(task);
      if (host !== undefined) group.hosts.set(host, (group.hosts.get(host) ?? 0) + 1);
    }
  });
  return groups;
}

function groupOf(
  groups: Map<string, Group>,
  cause: FailureCause,
  fingerprint: number,
  host: string | undefined,
): Group {
  const key = `${cause} ${fingerprint} ${host ?? ''}`;
  const known = groups.get(key);
  if (known !== undefined) return known;
  const group: Group = { cause, fingerprint, host, examples: [], hosts: new Map(), count: 0 };
  groups.set(key, group);
  return group;
}

/** How each group is named so that no other is meant, by no more than it takes. */
class Namer {
  readonly #workflow: string;
  readonly #failures: FailureValues;
  readonly #groups: readonly Group[];
  readonly #hosts: ReadonlySet<string>;

  constructor(workflow: WorkflowId, failures: FailureValues, groups: readonly Group[]) {
    this.#workflow = printWorkflow(workflow);
    this.#failures = failures;
    this.#groups = groups;
    this.#hosts = new Set(groups.flatMap(({ hosts }) => [...hosts.keys()]));
  }

  of(group: Group): Pick<FailureGroup, 'where' | 'rerun'> {
    const { cause } = group;
    const fingerprint = this.#fingerprintOf(group);
    const host = this.#hostOf(group);
    const clauses = [
      ...[`workflow=${this.#workflow}`, 'state=failed', `cause=${cause}`],
      ...(fingerprint === undefined ? [] : [`fingerprint=${fingerprint}`]),
      ...(host === undefined ? [] : [`host=${escapeValue(host)}`]),
    ];
    const options = [
      `--cause ${cause}`,
      ...(fingerprint === undefined ? [] : [`--fingerprint ${fingerprint}`]),
      ...(host === undefined ? [] : [`--host ${typeable(host)}`]),
    ];
    return { where: clauses.join('&'), ...this.#rerunOf(cause, options) };
  }

  #rerunOf(cause: FailureCause, options: readonly string[]): Pick<FailureGroup, 'rerun'> {
    // That time does not come again: each would fail at once.
    if (cause === 'deadline') return {};
    // A check fails again for as long as what it looks at has failed.
    const which = cause === 'check' ? ['--failed'] : options;
    return { rerun: `drover retry ${this.#workflow} ${which.join(' ')}` };
  }

  #fingerprintOf({ cause, fingerprint }: Group): string | undefined {
    const isAlone = this.#groups.every((other) => other.cause !== cause || other.fingerprint === fingerprint);
    return isAlone ? undefined : this.#failures.nameOf(fingerprint);
  }

  /** Also where it happens on one host only, while others fail otherwise: that is worth knowing. */
  #hostOf({ host, hosts, count }: Group): string | undefined {
    const [only] = hosts.size === 1 && this.#hosts.size > 1 ? hosts : [];
    return host ?? (only?.[1] === count ? only[0] : undefined);
  }
}

async function renderGroup(
  shell: ControllerShell,
  group: Group,
  failures: FailureValues,
  namer: Namer,
): Promise<FailureGroup> {
  const { cause, fingerprint, examples, count } = group;
  const definitions = await shell.store.definitions(examples);
  const last = await shell.read(({ tasks }) => examples.map((task) => tasks.lastAttempt(task)));
  const hasWritten = !failsAtOnce(cause) && cause !== 'never-started';
  const [attempt] = last;
  const lastLines = hasWritten && attempt !== undefined ? await lastLinesOf(shell, attempt) : '';
  const message = examples[0] === undefined ? undefined : await messageOf(shell, examples[0], attempt);
  const hosts = [...group.hosts].sort(([, a], [, b]) => b - a).slice(0, failureLimits.hostsMax);
  const name = failures.nameOf(fingerprint);
  return {
    cause,
    title: message === undefined ? showCause(cause) : `${showCause(cause)}: ${message}`,
    ...optional('fingerprint', name === noFingerprint ? undefined : name),
    ...optional('pattern', failures.linesOf(fingerprint)),
    count,
    examples: definitions.map(({ workflow, index, spec }) => ({
      id: printTask(workflow, index),
      ...optional('command', spec.command?.slice(0, commandCharactersMax)),
    })),
    ...optional('lastLines', lastLines === '' ? undefined : lastLines),
    hosts: hosts.map(([host, hostCount]) => ({ host, count: hostCount })),
    ...namer.of(group),
  };
}

/** Why it could not be started; or what it would have needed. */
async function messageOf(
  shell: ControllerShell,
  task: TaskId,
  attempt: AttemptId | undefined,
): Promise<string | undefined> {
  if (attempt === undefined) return undefined;
  const [last] = await shell.store.attempts([attempt]);
  if (last?.outcome?.kind === 'never-started') return last.outcome.message;
  const isShort = await shell.read(({ tasks }) => tasks.reason(task) === 'resources');
  return isShort ? (await shortfallsOf(shell, [{ task, last }])).get(task)?.why : undefined;
}

async function lastLinesOf(shell: ControllerShell, attempt: AttemptId): Promise<string> {
  for (const stream of ['stderr', 'stdout'] as const) {
    const output = await storedOutput(shell, attempt, stream);
    const tail = await output.read(Math.max(0, output.bytes - outputTailBytesMax), outputTailBytesMax);
    const lines = Buffer.from(tail).toString().split('\n').map(shownLine);
    const last = lines
      .filter((line) => line !== '')
      .slice(-lastLinesMax)
      .join('\n')
      .trim();
    if (last !== '') return last.slice(-lastCharactersMax);
  }
  return '';
}
