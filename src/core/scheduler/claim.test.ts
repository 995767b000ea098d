import { describe, expect, it } from 'vitest';
import { command, Herd, join } from '../../../test/core/herd.ts';
import { type WorkerId, type WorkflowId, workerId } from '../../model/ids.ts';
import { endAttempt } from '../task/ending.ts';
import type { WorkerRecord } from '../worker.ts';
import { availableTasks, claimTask, claimTasks, stopOrders } from './claim.ts';

/** A native worker of one slot that nothing is launched to unasked, and one over HTTP. */
class Fair extends Herd {
  readonly http = this.addWorker(2, 'http');

  constructor() {
    super(1);
  }

  record(id: WorkerId = this.http): WorkerRecord {
    return this.cluster.workers.get(id) as WorkerRecord;
  }

  claim(workflow: WorkflowId, index: number, worker: WorkerId = this.http): number {
    return this.turn((turn) => claimTask(turn, this.record(worker), this.task(workflow, index)));
  }

  claimNext(most: number, worker: WorkerId = this.http): number[] {
    const attempts = this.turn((turn) => claimTasks(turn, this.record(worker), most));
    return attempts.map((id) => this.cluster.tasks.index(this.cluster.attempts.get(id)?.task as never));
  }

  available(): number[] {
    return [...availableTasks(this.cluster, this.now)].map((task) => this.cluster.tasks.index(task));
  }
}

const refused = (code: string, details: object = {}) =>
  expect.objectContaining({
    code,
    ...(code === 'task-not-available' ? { details: expect.objectContaining(details) } : {}),
  });

describe('a claim', () => {
  it('A21: is won by the first, and lost by whoever comes after it', () => {
    const fair = new Fair();
    const w = fair.submit([command, command]);
    const other = fair.addWorker(2, 'http');
    fair.claim(w, 1);
    expect(fair.state(w, 1)).toBe('running');
    expect(() => fair.claim(w, 1, other)).toThrow(
      refused('task-not-available', { state: 'running', worker: 'k2', attempt: 'w1.1#1' }),
    );
    expect(fair.workerOf(w, 1)).toBe(fair.http);
  });

  it('is of what is not launched, and nothing is launched that is claimed', () => {
    const fair = new Fair();
    const w = fair.submit([command, command, command]);
    fair.claim(w, 1);
    fair.launch();
    expect(fair.workerOf(w, 2)).toBe(workerId(1));
    expect(() => fair.claim(w, 2)).toThrow(refused('task-not-available', { state: 'launched' }));
    expect(fair.claimNext(5)).toEqual([3]);
  });

  it('is never of a task that waits, is held, is a join, has ended, or whose workflow does not go on', () => {
    const fair = new Fair();
    const w = fair.submit(
      [command, command, { kind: 'command', held: true }, join],
      [{ parents: [1, 1], children: [2, 2], after: 'success' }],
    );
    for (const index of [2, 3, 4]) expect(() => fair.claim(w, index)).toThrow(refused('task-not-available'));
    fair.turn((turn) => turn.mustTask(fair.task(w, 1), { type: 'hold' }, 'definer'));
    expect(() => fair.claim(w, 1)).toThrow(refused('task-not-available', { state: 'queued' }));
    fair.turn((turn) => turn.mustTask(fair.task(w, 1), { type: 'release' }, 'definer'));
    fair.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'drain' }, 'definer'));
    expect(() => fair.claim(w, 1)).toThrow(refused('task-not-available', { state: 'queued' }));
    expect([fair.available(), fair.claimNext(5)]).toEqual([[], []]);
  });

  it('of a task whose latest start has passed makes it fail', () => {
    const fair = new Fair();
    const w = fair.submit([{ kind: 'command', until: fair.now + 10 }]);
    fair.now += 20;
    expect(() => fair.claim(w, 1)).toThrow(refused('task-not-available', { state: 'failed' }));
  });

  it('of a task that waits before its next attempt is refused until then', () => {
    const fair = new Fair();
    const w = fair.submit([command], [], { maxAttempts: 2 });
    fair.claim(w, 1);
    fair.end(w, 1, { kind: 'exited', code: 1 });
    expect(fair.state(w, 1)).toBe('queued');
    expect([fair.available(), fair.claimNext(1)]).toEqual([[], []]);
    expect(() => fair.claim(w, 1)).toThrow(refused('task-not-available'));
    fair.pass(60_000);
    expect(fair.claimNext(1)).toEqual([1]);
  });

  it('is refused to a worker that is full, or barred', () => {
    const fair = new Fair();
    const w = fair.submit([command, command, command]);
    expect(fair.claimNext(9)).toEqual([1, 2]);
    expect(() => fair.claim(w, 3)).toThrow(refused('worker-full'));
    fair.end(w, 1);
    const bar = { kind: 'drained', why: 'by command' } as const;
    fair.turn((turn) => turn.emit({ type: 'worker-barred', worker: fair.http, bar }));
    expect(() => fair.claim(w, 3)).toThrow(refused('worker-barred'));
    expect(fair.claimNext(1)).toEqual([]);
  });

  it('leaves a task that is on trial elsewhere for others', () => {
    const fair = new Fair();
    const w = fair.submit([command, command]);
    fair.cluster.avoided.set(fair.task(w, 1), fair.http);
    expect(() => fair.claim(w, 1)).toThrow(refused('task-not-available'));
    expect(fair.claimNext(2)).toEqual([2]);
    expect(fair.claimNext(2, fair.addWorker(2, 'http'))).toEqual([1]);
  });

  it('takes workflows in turns, as launching does', () => {
    const fair = new Fair();
    const [a, b] = [fair.submit([command, command]), fair.submit([command, command])];
    fair.claimNext(2);
    expect([fair.states(a), fair.states(b)]).toEqual([
      ['running', 'queued'],
      ['running', 'queued'],
    ]);
  });
});

describe('what is available', () => {
  it('begins with what nobody has claimed, however many were before it', () => {
    const fair = new Fair();
    const w = fair.submit([command, command, command, command]);
    fair.claim(w, 1);
    fair.claim(w, 3);
    expect(fair.available()).toEqual([2, 4]);
    expect(fair.cluster.workflow(w).ready.queue(0)?.peek()).toBe(fair.task(w, 2));
  });
});

describe('orders to stop', () => {
  it('are for what is being cancelled, and for what is halted at once', () => {
    const fair = new Fair();
    const w = fair.submit([command, command]);
    fair.claimNext(2);
    const orders = () => stopOrders(fair.cluster, fair.record()).map(({ attempt, why }) => [attempt, why]);
    expect(orders()).toEqual([]);
    fair.turn((turn) => turn.mustTask(fair.task(w, 1), { type: 'cancel', reason: 'user' }, 'definer'));
    expect(orders()).toEqual([[1, 'cancel']]);
    fair.turn((turn) => turn.mustWorkflow(w, { type: 'halt', mode: 'kill' }, 'definer'));
    expect(orders()).toEqual([
      [1, 'cancel'],
      [2, 'halt'],
    ]);
    const cancelled = { kind: 'cancelled' } as const;
    const attempts = [...fair.record().attempts];
    fair.turn((turn) => {
      for (const attempt of attempts) endAttempt(turn, { attempt, worker: fair.http, outcome: cancelled });
    });
    expect([orders(), fair.states(w)]).toEqual([[], ['cancelled', 'queued']]);
  });
});
