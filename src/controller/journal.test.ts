import { expect, it } from 'vitest';
import { command, Herd } from '../../test/core/herd.ts';
import { settle } from '../core/settle.ts';
import { endAttempt, loseAttempts } from '../core/task/ending.ts';
import type { Turn } from '../core/turn.ts';
import { cancelWorkflow, closeWorkflow } from '../core/workflow/registration.ts';
import { workerId, workflowId } from '../model/ids.ts';
import type { Outcome } from '../model/outcome.ts';
import { journal, taskLinesMax } from './journal.ts';

const k1 = workerId(1);
const w1 = workflowId(1);

/** What the log says of a turn. */
const told = (herd: Herd, act: (turn: Turn) => void): unknown[] =>
  herd.turn((turn) => {
    act(turn);
    while (settle(turn, 100_000));
    return journal(turn.changes, herd.cluster).map(({ level, message, facts }) => [level, message, facts]);
  });

function endAll(turn: Turn, outcome: Outcome): void {
  for (const attempt of [...(turn.cluster.workers.get(k1)?.attempts ?? [])]) {
    endAttempt(turn, { attempt, worker: k1, outcome });
  }
}

it('tells what was decided about a workflow, from its start to its end', () => {
  const herd = new Herd();
  herd.submit([command, command], [], { open: true });
  expect(told(herd, (turn) => closeWorkflow(turn, w1))).toEqual([]);
  herd.launch();
  expect(told(herd, (turn) => endAll(turn, { kind: 'succeeded' }))).toEqual([
    ['info', 'a workflow is done', { workflow: 'w1', run: 1, tasks: 2, done: 2, failed: 0, cancelled: 0 }],
  ]);
  herd.submit([command]);
  const cancelled = told(herd, (turn) => cancelWorkflow(turn, workflowId(2)));
  expect(cancelled[0]).toEqual(['info', 'the rest of a workflow is being cancelled', { workflow: 'w2', for: 'user' }]);
  expect(cancelled.at(-1)).toMatchObject(['info', 'a workflow is cancelled', { workflow: 'w2', cancelled: 1 }]);
});

it('tells of attempts that came to nothing, and of tasks that failed', () => {
  const herd = new Herd();
  herd.submit([command]);
  herd.launch();
  expect(told(herd, (turn) => loseAttempts(turn, k1))).toEqual([
    [
      'warn',
      'an attempt came to nothing',
      { attempt: 'w1.1#1', outcome: { kind: 'lost', what: 'worker' }, worker: 'k1' },
    ],
  ]);
  herd.pass(60_000);
  herd.launch();
  expect(told(herd, (turn) => endAll(turn, { kind: 'exited', code: 3 }))).toContainEqual([
    ...['info', 'a task failed for good', { task: 'w1.1', reason: 'attempts' }],
  ]);
});

it('counts tasks beyond a few, so that a herd of failures does not fill a disk', () => {
  const herd = new Herd(1_000);
  herd.submit(Array.from({ length: 500 }, () => command));
  herd.launch();
  const lines = told(herd, (turn) => endAll(turn, { kind: 'exited', code: 1 }));
  expect(lines.filter((line) => String(line).includes('a task failed'))).toHaveLength(taskLinesMax);
  expect(lines.at(-1)).toMatchObject(['info', expect.stringContaining('more tasks'), { more: 500 - taskLinesMax }]);
});
