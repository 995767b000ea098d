import { describe, expect, it } from 'vitest';
import { command, Herd } from '../../../test/core/herd.ts';
import type { WorkflowId } from '../../model/ids.ts';
import type { Need } from '../../model/need.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { WorkflowRules } from '../change.ts';

const MB = 1_000_000;
const need: Need = { queue: 'default', cpus: 1, memoryBytes: 100 * MB, runtimeMs: 10_000 };
const outOfMemory: Outcome = { kind: 'resource', resource: 'memory' };
const outOfTime: Outcome = { kind: 'resource', resource: 'runtime' };

function herdWith(count: number, rules: Partial<WorkflowRules> = {}, memoryBytes = 16_000 * MB) {
  const herd = new Herd(100, { queue: 'default', memoryBytes });
  const workflow = herd.submit(
    Array.from({ length: count }, () => command),
    [],
    { need, ...rules },
  );
  herd.launch();
  return { herd, workflow };
}

const needOf = (herd: Herd, workflow: WorkflowId, index: number): Need =>
  herd.cluster.needOf(herd.task(workflow, index));

describe('a task whose attempt ran out of a resource', () => {
  it('B31, B36, B37, B38: is queued again with more of it, and its next attempt is a new one', () => {
    const { herd, workflow } = herdWith(1);
    herd.end(workflow, 1, outOfMemory);
    expect(herd.state(workflow, 1)).toBe('queued');
    expect(needOf(herd, workflow, 1)).toEqual({ ...need, memoryBytes: 150 * MB });
    herd.launch();
    expect(herd.state(workflow, 1)).toBe('launched');
    expect(herd.cluster.tasks.attemptNumber(herd.task(workflow, 1))).toBe(2);
    herd.end(workflow, 1, outOfTime);
    herd.launch();
    expect(needOf(herd, workflow, 1)).toEqual({ ...need, memoryBytes: 150 * MB, runtimeMs: 15_000 });
    herd.end(workflow, 1);
    expect(herd.cluster.workflow(workflow).state).toBe('done');
  });

  it('B31: has no attempt of its own charged for it, and fails when its resources were raised as often as they may be', () => {
    const { herd, workflow } = herdWith(1, { maxAttempts: 1, maxResourceRetries: 2 });
    for (const state of ['queued', 'queued', 'failed']) {
      herd.end(workflow, 1, outOfMemory);
      expect(herd.state(workflow, 1)).toBe(state);
      herd.launch();
    }
    const view = herd.cluster.taskView(herd.task(workflow, 1));
    expect(view).toMatchObject({ reason: 'resources', used: { attempts: 0, resources: 3 }, attemptNumber: 3 });
    expect(needOf(herd, workflow, 1).memoryBytes).toBe(225 * MB);
  });

  it('may say itself how often', () => {
    const herd = new Herd();
    const workflow = herd.submit([{ ...command, maxResourceRetries: 0 }, command], [], { need, maxResourceRetries: 9 });
    herd.launch();
    herd.end(workflow, 1, outOfMemory);
    herd.end(workflow, 2, outOfMemory);
    expect(herd.states(workflow)).toEqual(['failed', 'queued']);
  });

  it('B33: is raised alone: the needs of tasks that asked for the same are not touched, however many run out', () => {
    const { herd, workflow } = herdWith(10);
    for (let index = 1; index <= 9; index++) herd.end(workflow, index, outOfMemory);
    const amounts = Array.from({ length: 10 }, (_, at) => needOf(herd, workflow, at + 1).memoryBytes);
    expect(amounts).toEqual([...new Array(9).fill(150 * MB), 100 * MB]);
    expect(herd.cluster.adjustments.size).toBe(9);
  });

  it('B36: fails with what it would need where no worker has it, and is raised when there is one and it is tried again', () => {
    const { herd, workflow } = herdWith(1, {}, 120 * MB);
    herd.end(workflow, 1, outOfMemory);
    expect(needOf(herd, workflow, 1).memoryBytes).toBe(120 * MB);
    herd.launch();
    herd.end(workflow, 1, outOfMemory);
    const task = herd.task(workflow, 1);
    expect(herd.cluster.taskView(task)).toMatchObject({ state: 'failed', reason: 'resources' });
    expect(needOf(herd, workflow, 1).memoryBytes).toBe(120 * MB);
    herd.addWorker(1, 'native', { queue: 'default', memoryBytes: 16_000 * MB });
    herd.turn((turn) => turn.mustTask(task, { type: 'retry' }, 'definer'));
    herd.turn((turn) => turn.workflow(workflow, { type: 'reopen' }, 'controller'));
    herd.launch();
    expect(needOf(herd, workflow, 1).memoryBytes).toBe(120 * MB);
    herd.end(workflow, 1, outOfMemory);
    expect(needOf(herd, workflow, 1).memoryBytes).toBe(180 * MB);
    expect(herd.cluster.adjustments.get(task)).toBe(2);
  });

  it('B31: counts memory that the machine took as memory, and its definer’s own timeout as a failed attempt', () => {
    const { herd, workflow } = herdWith(2, { maxAttempts: 1 });
    herd.end(workflow, 1, { ...outOfMemory, by: 'machine' });
    herd.end(workflow, 2, { ...outOfTime, by: 'timeout' });
    expect(herd.states(workflow)).toEqual(['queued', 'failed']);
    expect(needOf(herd, workflow, 1).memoryBytes).toBe(150 * MB);
    expect(herd.cluster.taskView(herd.task(workflow, 2))).toMatchObject({ reason: 'attempts' });
  });

  it('that it had not asked for is charged for an attempt', () => {
    const herd = new Herd();
    const workflow = herd.submit([command]);
    herd.launch();
    herd.end(workflow, 1, outOfMemory);
    expect(herd.cluster.taskView(herd.task(workflow, 1))).toMatchObject({ state: 'failed', reason: 'attempts' });
  });
});
