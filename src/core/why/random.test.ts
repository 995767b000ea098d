import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginning, play, run, turns } from '../../../test/core/operations.ts';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { assert } from '../../model/errors.ts';
import { isEndedTask } from '../../model/states.ts';
import type { Cluster } from '../cluster.ts';
import { launchTasks } from '../scheduler/launch.ts';
import { settle } from '../settle.ts';
import { Turn } from '../turn.ts';
import { whyTask } from './analyst.ts';
import type { Outlook, TaskWhy } from './reason.ts';
import { whyWorkflow } from './workflow.ts';

const outlookAt = (now: number): Outlook => ({
  now,
  initialWait: undefined,
  lateMs: 3_000,
  givenUpAt: () => undefined,
});

function* whys(cluster: Cluster, now: number): Generator<TaskWhy> {
  for (const workflow of cluster.workflows.values()) {
    for (const task of workflow.tasks()) yield whyTask(cluster, task, outlookAt(now));
  }
}

/** Does all that can be done without anybody's help. */
function calm(cluster: Cluster, now: number): void {
  for (let changes = -1; changes !== 0; ) {
    const turn = new Turn(cluster, now);
    while (settle(turn, turn.changes.length + 1_000));
    launchTasks(turn, turn.changes.length + 1_000);
    changes = turn.changes.length;
  }
}

describe('a cluster under random operations', () => {
  it('has a reason for every task at any time, and when all is done that can be, one that somebody else has to take away', () => {
    fc.assert(
      fc.property(turns, (played) => {
        const { cluster, now: begin } = beginning(1_000);
        const now = play(cluster, begin, played, {
          each: run,
          after(at) {
            for (const { reasons, task } of whys(cluster, at)) assert(reasons.length > 0, `there is one for ${task}`);
          },
        });
        calm(cluster, now);
        cluster.takeDirty();
        for (const { task, state, reasons, root } of whys(cluster, now)) {
          const kinds = reasons.map(({ kind }) => kind);
          assert(!kinds.includes('next') && !kinds.includes('settling'), `${task} is ${state}, but ${kinds.join()}`);
          // Before it is closed nothing of it is cancelled.
          const isWaiting = kinds.includes('dependencies') && !kinds.includes('registering');
          assert(!isWaiting || (root !== undefined && !root.isCut), `${task} waits for something`);
          assert(!isWaiting || !isEndedTask(root?.state ?? 'done'), `${task} waits for what has not ended`);
        }
        for (const { id, unended } of cluster.workflows.values()) {
          const { sampled, groups } = whyWorkflow(cluster, id, outlookAt(now));
          expect([sampled, groups.reduce((sum, { count }) => sum + count, 0)]).toEqual([unended, unended]);
        }
        const none = { workflows: [], tasks: [], attempts: [], workers: [] };
        expect(cluster.takeDirty()).toEqual(none);
      }),
      madeUp(60),
    );
  });
});
