/** What the fields of a filter that are about failures mean for a task. All of it is in memory. */
import type { FailureClass } from '../../controller/failures/classes.ts';
import type { ControllerShell } from '../../controller/shell.ts';
import type { Cluster } from '../../core/cluster.ts';
import { maskOf } from '../../core/task/columns.ts';
import { allStates, type StateMask } from '../../core/task/state-blocks.ts';
import { causeOfReason, type FailureCause } from '../../model/failure-cause.ts';
import type { TaskId } from '../../model/ids.ts';
import type { FailReason, TaskState } from '../../model/states.ts';

export interface FailureValues {
  /** Of its last attempt; `undefined` while that runs, or where it succeeded. */
  cause(cluster: Cluster, task: TaskId): FailureCause | undefined;
  /** `none` of a failure that has none. */
  fingerprint(cluster: Cluster, task: TaskId): string | undefined;
  of(cluster: Cluster, task: TaskId): FailureClass | undefined;
  /** By the id of a fingerprint. */
  nameOf(fingerprint: number): string;
  /** Folded lines. */
  linesOf(fingerprint: number): string | undefined;
}

/** In these the last attempt has not failed. */
const withoutFailure: readonly TaskState[] = ['registering', 'launched', 'running', 'cancelling', 'done'];
export const statesWithFailure: StateMask = allStates & ~maskOf(withoutFailure);

/** Of a failure that has no fingerprint. */
export const noFingerprint = 'none';

/** Of a task that failed, and of whose last attempt no failure is known: there is none, unless somebody removed its row. */
export const unknownFailure: FailureClass = { cause: 'lost', fingerprint: 0, host: undefined };

export function failureValues(shell: ControllerShell): FailureValues {
  const { fingerprints } = shell.controller.failures;
  const { failures } = shell.observations;
  const nameOf = (fingerprint: number): string => fingerprints.get(fingerprint)?.name ?? noFingerprint;
  const of: FailureValues['of'] = ({ tasks }, task) => {
    if (!tasks.isIn(task, statesWithFailure)) return undefined;
    // One that was not started in time, or waited for what failed, has not failed by its last attempt, if it has one.
    const reason = tasks.state(task) === 'failed' ? (tasks.reason(task) as FailReason) : undefined;
    if (reason === undefined) return failures.of(task);
    const cause = causeOfReason(reason);
    return cause === undefined ? (failures.of(task) ?? unknownFailure) : { cause, fingerprint: 0, host: undefined };
  };
  return {
    of,
    nameOf,
    linesOf: (fingerprint) => fingerprints.get(fingerprint)?.lines,
    cause: (cluster, task) => of(cluster, task)?.cause,
    fingerprint: (cluster, task) => {
      const found = of(cluster, task);
      return found === undefined ? undefined : nameOf(found.fingerprint);
    },
  };
}
