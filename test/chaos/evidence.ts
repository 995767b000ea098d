/**
 * Holds what Drover says against what happened outside. Each check returns what is wrong, in words.
 */
import { outputTailBytesMax } from '../../src/model/limits.ts';
import type { Cause, Causes } from './causes.ts';
import type { Submission } from './definer.ts';
import type { Entry, Ledger } from './ledger.ts';
import type { RecordedTask, RecordedWorkflow, Records } from './records.ts';

export interface Evidence {
  readonly submissions: readonly Submission[];
  /** Tasks that a client saw done during the run, with the attempts that they had then. */
  readonly shown: ReadonlyMap<string, number>;
  readonly records: Records;
  readonly ledger: Ledger;
  readonly entries: readonly Entry[];
  readonly causes: Causes;
}

/** A command that ran again, and what explains it. */
export interface Repetition {
  readonly task: string;
  readonly attempt: number;
  readonly worker: string;
  readonly pid: number;
  readonly cause: Cause;
}

export interface Verdict {
  readonly faults: readonly string[];
  readonly repetitions: readonly Repetition[];
  /** Attempts that met the next one where nobody could prevent it. */
  readonly excused: readonly string[];
  /** Attempts that wrote something. */
  readonly attempts: number;
}

export function judge(evidence: Evidence): Verdict {
  const { submissions, records, shown } = evidence;
  const byName = new Map(records.workflows.map((workflow) => [workflow.view.name, workflow]));
  const tasks = records.workflows.flatMap((workflow) => workflow.tasks);
  const runs = new Map(tasks.map((task) => [task.id, runsOf(task, evidence.entries)]));
  const lost = tasks.flatMap((task) => lostAttempts(task, runs.get(task.id) ?? [], evidence));
  const overlaps = tasks.flatMap((task) => overlapsOf(task, runs.get(task.id) ?? [], evidence));
  return {
    attempts: [...runs.values()].reduce((sum, { length }) => sum + length, 0),
    faults: [
      ...submissions.flatMap((submission) => submissionFaults(submission, byName.get(submission.name), evidence)),
      ...tasks.flatMap((task) => shownFaults(task, shown.get(task.id))),
      ...tasks.flatMap((task) => runFaults(task, runs.get(task.id) ?? [])),
      ...overlaps.filter(({ cause }) => cause === undefined).map(({ text }) => text),
      ...strangers(evidence.entries, runs),
      ...lost.filter((each) => typeof each === 'string'),
    ],
    repetitions: lost.filter((each) => typeof each !== 'string'),
    excused: overlaps.flatMap(({ text, cause }) => (cause === undefined ? [] : [`${text}: ${cause.what}`])),
  };
}

/** Acknowledged: there, whole and done. Not acknowledged: absent, or not begun, or whole and done as well. */
function submissionFaults(
  { name, nonces, id }: Submission,
  workflow: RecordedWorkflow | undefined,
  evidence: Evidence,
): string[] {
  const { entries } = evidence;
  const ended = new Set(entries.filter(({ what }) => what === 'end').map(({ nonce }) => nonce));
  if (workflow === undefined || !isGoingToRun(workflow)) {
    const ran = entries.filter(({ nonce }) => nonces.includes(nonce)).length;
    const state = workflow?.view.state ?? 'absent';
    if (id !== undefined) return [`${id} (${name}) was acknowledged, and is ${state}`];
    return ran === 0 ? [] : [`${name} was not acknowledged and is ${state}, but wrote ${ran} lines`];
  }
  const { view, tasks } = workflow;
  const faults: string[] = [];
  if (id !== undefined && view.id !== id) faults.push(`${name} was acknowledged as ${id}, and is ${view.id}`);
  if (view.state !== 'done') faults.push(`${view.id} (${name}) is ${view.state}`);
  if (tasks.length !== nonces.length) faults.push(`${view.id} has ${tasks.length} of ${nonces.length} tasks`);
  tasks.forEach((task, at) => {
    const nonce = nonces[at] ?? '';
    if (task.state !== 'done') faults.push(`${task.id} is ${task.state} (${task.reason})`);
    if (!task.command?.includes(` ${nonce} `)) faults.push(`${task.id} should be ${nonce}: ${task.command}`);
    if (!ended.has(nonce)) faults.push(`${task.id} (${nonce}) never came to its end`);
    faults.push(...outputFaults(task, evidence));
  });
  return faults;
}

/** What did not travel with the end is fetched afterwards, and gone if its worker was killed before. */
function outputFaults({ id, command = '', attempts, history, stdout }: RecordedTask, evidence: Evidence): string[] {
  const printed = evidence.ledger.outputOf(command, attempts);
  if (stdout === printed) return [];
  const last = history.find(({ number }) => number === attempts);
  const pid = evidence.records.workerPids.get(last?.worker ?? '') ?? 0;
  const endedAt = Date.parse(last?.endedAt ?? '');
  const isExcused = evidence.causes.ofLoss(pid, endedAt, Number.POSITIVE_INFINITY) !== undefined;
  const isTailThere = printed.endsWith(stdout) && stdout.length >= Math.min(printed.length, outputTailBytesMax);
  if (isTailThere && isExcused) return [];
  return [`${id} printed ${printed.length} bytes, ${stdout.length} are kept, ending in '${stdout.slice(-40)}'`];
}

const isGoingToRun = ({ view }: RecordedWorkflow): boolean => view.state !== 'registering' && view.state !== 'aborted';

function shownFaults({ id, state, attempts }: RecordedTask, shownAttempts: number | undefined): string[] {
  if (shownAttempts === undefined || (state === 'done' && attempts === shownAttempts)) return [];
  return [`${id} was shown as done by attempt ${shownAttempts}, and is ${state} with ${attempts} attempts`];
}

interface Run {
  readonly attempt: number;
  readonly worker: string;
  readonly begunAt: number;
  /** When it wrote its last line. */
  readonly lastAt: number;
  readonly begins: number;
}

/** In the order of attempts. */
function runsOf({ id }: RecordedTask, entries: readonly Entry[]): Run[] {
  const ours = entries.filter(({ task }) => task === id);
  const begins = ours.filter(({ what }) => what === 'begin');
  const numbers = [...new Set(begins.map(({ attempt }) => attempt))].sort((a, b) => a - b);
  return numbers.flatMap((attempt) => {
    const of = begins.filter((entry) => entry.attempt === attempt);
    const lastAt = Math.max(...ours.filter((entry) => entry.attempt === attempt).map(({ at }) => at));
    const [first] = of;
    if (first === undefined) return [];
    return [{ attempt, worker: first.worker, begunAt: first.at, lastAt, begins: of.length }];
  });
}

function runFaults({ id, history }: RecordedTask, runs: readonly Run[]): string[] {
  const faults: string[] = [];
  runs.forEach(({ attempt, worker, begins }, at) => {
    const name = `attempt ${attempt} of ${id}`;
    if (begins > 1) faults.push(`${name} began ${begins} times`);
    const recorded = history.find(({ number }) => number === attempt);
    if (recorded === undefined) faults.push(`${name} ran, and is not in the store`);
    else if (recorded.worker !== worker) faults.push(`${name} ran on ${worker}, not on ${recorded.worker}`);
    else if (recorded.outcome?.kind === 'never-started') faults.push(`${name} ran, and is said not to have started`);
    if (at < runs.length - 1 && recorded?.outcome?.kind !== 'lost') {
      faults.push(`${name} was not lost (${JSON.stringify(recorded?.outcome)}), and the task began again`);
    }
  });
  return faults;
}

interface Overlap {
  readonly text: string;
  readonly cause: Cause | undefined;
}

function overlapsOf({ id }: RecordedTask, runs: readonly Run[], { records, causes }: Evidence): Overlap[] {
  return runs.flatMap((run, at) =>
    runs
      .slice(0, at)
      .filter(({ lastAt }) => lastAt > run.begunAt)
      .map((before) => {
        const ms = Math.round(before.lastAt - run.begunAt);
        const text = `attempt ${run.attempt} of ${id} began on ${run.worker} ${ms} ms before the last line of attempt ${before.attempt} on ${before.worker}`;
        const pid = records.workerPids.get(before.worker) ?? 0;
        return { text, cause: causes.ofOverlap(pid, before.begunAt, before.lastAt) };
      }),
  );
}

const strangers = (entries: readonly Entry[], runs: ReadonlyMap<string, unknown>): string[] =>
  entries.filter(({ task }) => !runs.has(task)).map(({ task, nonce }) => `${task} (${nonce}) ran, and is unknown`);

/** Each has to be explained by what befell its own worker, or its spawner; those that had begun are repetitions. */
function lostAttempts(task: RecordedTask, runs: readonly Run[], evidence: Evidence): (string | Repetition)[] {
  return task.history
    .filter(({ outcome }) => outcome?.kind === 'lost')
    .flatMap((attempt): (string | Repetition)[] => {
      const run = runs.find((each) => each.attempt === attempt.number);
      const pid = evidence.records.workerPids.get(attempt.worker) ?? 0;
      const to = Date.parse(attempt.endedAt ?? '') || Number.POSITIVE_INFINITY;
      const cause = evidence.causes.ofLoss(pid, run?.begunAt ?? Date.parse(attempt.recordedAt), to);
      if (cause === undefined) {
        const times = JSON.stringify({ ...attempt, begunAt: run === undefined ? null : new Date(run.begunAt) });
        return [`attempt ${attempt.number} of ${task.id} was lost, and nothing befell worker ${pid}: ${times}`];
      }
      return run === undefined ? [] : [{ task: task.id, attempt: attempt.number, worker: attempt.worker, pid, cause }];
    });
}
