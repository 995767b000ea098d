import fc from 'fast-check';
import { describe, it } from 'vitest';
import { beginning, joinLargest, mayExceed, narrowLimits, play, run, turns } from '../../test/core/operations.ts';
import { madeUp } from '../../test/set-up/made-up.ts';
import { assert } from '../model/errors.ts';
import { isEndedTask } from '../model/states.ts';
import type { Cluster } from './cluster.ts';
import { checkInvariants } from './invariants.ts';
import { launchTasks } from './scheduler/launch.ts';
import { settle } from './settle.ts';
import { endAttempt } from './task/ending.ts';
import { Turn } from './turn.ts';

/** Once everybody cooperates: what is held is released, what is open is closed, what runs succeeds. */
function finishAll(cluster: Cluster, from: number): void {
  let now = from;
  for (let round = 0; round < 60; round++) {
    now += 100_000;
    const turn = new Turn(cluster, now);
    // A resume brings held tasks back, which then have to be released, too.
    if (round < 3) openTheWay(turn);
    while (settle(turn, turn.changes.length + 1_000));
    // What runs when the limits are narrowed may run on.
    let before = usesOver(cluster);
    do {
      launchTasks(turn, turn.changes.length + 1_000);
      checkNotOver(cluster, before);
      before = usesOver(cluster);
    } while (endAll(turn));
    checkInvariants(cluster);
    cluster.takeDirty();
    if (round >= 3 && [...cluster.workflows.values()].every(({ unended }) => unended === 0)) return;
  }
}

/** Returns whether there was one that had not ended. */
function endAll(turn: Turn): boolean {
  const live = [...turn.cluster.attempts.values()].filter(({ state }) => state !== 'ended');
  for (const { id, worker } of live) endAttempt(turn, { attempt: id, worker, outcome: { kind: 'succeeded' } });
  while (settle(turn, turn.changes.length + 1_000));
  return live.length > 0;
}

/** What is in use of each limit, where that is more than it allows. */
function usesOver({ limits, workflows }: Cluster): Map<string, number> {
  const over = new Map<string, number>();
  for (const { name, max = Number.POSITIVE_INFINITY, used } of limits.list()) if (used > max) over.set(name, used);
  for (const { id, concurrency, groupMax, live } of workflows.values()) {
    if (live > (concurrency?.workflow ?? live)) over.set(`w${id}`, live);
    for (const [group, max] of groupMax) {
      if (limits.usedOf(id, group) > max) over.set(`w${id} ${group}`, limits.usedOf(id, group));
    }
  }
  return over;
}

/** Of what is over its limit no more is in use than before. */
function checkNotOver(cluster: Cluster, before: ReadonlyMap<string, number>): void {
  for (const [limit, used] of usesOver(cluster)) {
    assert(used <= (before.get(limit) ?? 0), `${used} of ${limit}, which is more than it allows`);
  }
}

function openTheWay(turn: Turn): void {
  const { cluster } = turn;
  joinLargest(turn);
  narrowLimits(turn);
  for (let id = 1; id <= cluster.tasks.size; id++) run(turn, { name: 'release', a: id - 1, b: 0, c: 0 });
  for (const id of cluster.workflows.keys()) {
    run(turn, { name: 'close', a: id - 1, b: 0, c: 0 });
    if (cluster.workflow(id).state === 'halted') run(turn, { name: 'resume', a: id - 1, b: 0, c: 0 });
  }
}

describe('a cluster under random operations', () => {
  it('keeps its invariants after each of them, and in the end every task ends', () => {
    fc.assert(
      fc.property(turns, (played) => {
        const { cluster, now: begin } = beginning(1_000);
        const now = play(cluster, begin, played, {
          each(turn, operation) {
            const before = usesOver(cluster);
            run(turn, operation);
            if (!mayExceed.includes(operation.name)) checkNotOver(cluster, before);
            checkInvariants(cluster);
          },
          after: () => void cluster.takeDirty(),
        });
        finishAll(cluster, now);
        for (const [id, workflow] of cluster.workflows) {
          if (workflow.state === 'halted') continue;
          for (const task of workflow.tasks()) {
            assert(
              isEndedTask(cluster.tasks.state(task)),
              `task ${task} is ${cluster.tasks.state(task)}, w${id} is ${workflow.state}, stop ${workflow.stop}`,
            );
          }
        }
      }),
      madeUp(2_000),
    );
  });
});
