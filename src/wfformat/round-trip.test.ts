/** What an instance becomes, and what becomes of a run. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import { edgesOf, idsOf, instanceFiles, readInstance } from '../../test/wfformat/instances.ts';
import type { EdgeSpec } from '../protocol/spec.ts';
import type { AttemptView } from '../protocol/views/attempts.ts';
import type { TaskView } from '../protocol/views/tasks.ts';
import type { WorkerView } from '../protocol/views/workers.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import { fromRun, type RecordedRun } from './from-run.ts';
import { parseInstance } from './parse.ts';
import type { Instance, SpecifiedTask } from './schema.ts';
import { type ImportedWorkflow, toWorkflow } from './to-workflow.ts';

const at = '2026-01-01T00:00:00.000Z';
const view = { id: 'w1', state: 'done', createdAt: at } as WorkflowView;

/** As if it had been submitted as w1, and nothing had run. */
const submitted = ({ tasks, edges }: Pick<ImportedWorkflow, 'tasks' | 'edges'>, more: Partial<RecordedRun> = {}) => ({
  workflow: view,
  tasks: tasks.map((spec, offset) => ({ id: `w1.${offset + 1}`, index: offset + 1, ...spec }) as TaskView),
  edges,
  attempts: [],
  workers: [],
  version: '1.2.3',
  ...more,
});

const instanceOf = (tasks: SpecifiedTask[], executed: object[] = []): Instance =>
  ({
    name: 'x',
    schemaVersion: '1.5',
    workflow: {
      specification: { tasks },
      ...(executed.length === 0 ? {} : { execution: { makespanInSeconds: 1, executedAt: at, tasks: executed } }),
    },
  }) as Instance;

describe('an instance that becomes a workflow', () => {
  it.each(instanceFiles)('keeps its tasks and edges when it is written again: %s', (file) => {
    const instance = readInstance(file);
    const again = fromRun(submitted(toWorkflow(instance, file, { time: 1 })));
    expect(idsOf(again)).toEqual(idsOf(instance));
    expect(edgesOf(again)).toEqual(edgesOf(instance));
    parseInstance(JSON.stringify(again), 'again');
  });

  it('has parents before children, and single edges or ranges as a submission takes them', () => {
    for (const file of instanceFiles) {
      for (const { parents, children } of toWorkflow(readInstance(file), file, { time: 1 }).edges) {
        expect(parents[1]).toBeLessThan(children[0]);
        expect(parents[0] === parents[1] || children[0] === children[1]).toBe(true);
      }
    }
  });

  it('keeps any graph, however many joins are put into it', () => {
    const layers = fc.array(fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(layers, (shape) => {
        const tasks = shape.flatMap((layer, depth) =>
          layer.map((wants, at): SpecifiedTask => {
            const id = `t${depth}_${at}`;
            const before = depth === 0 ? [] : (shape[depth - 1]?.map((_, one) => `t${depth - 1}_${one}`) ?? []);
            // All of the layer before, none of it, or some: what all want alike goes through a join.
            return { name: id, id, parents: wants === 0 ? [] : wants === 1 ? before.slice(at) : before, children: [] };
          }),
        );
        const byId = new Map(tasks.map((task) => [task.id, task]));
        for (const { id, parents } of tasks) for (const parent of parents) byId.get(parent)?.children.push(id);
        const instance = instanceOf(tasks.toReversed());
        const workflow = toWorkflow(instance, 'x', { time: 1 });
        expect(edgesOf(fromRun(submitted(workflow)))).toEqual(edgesOf(instance));
      }),
      madeUp(),
    );
  });

  it('puts a join where many wait for the same many, so that edges stay few', () => {
    const [parents, children] = [50, 40];
    const ids = (kind: string, count: number) => Array.from({ length: count }, (_, at) => `${kind}_${at}`);
    const tasks = [
      ...ids('p', parents).map((id) => ({ name: id, id, parents: [], children: ids('c', children) })),
      ...ids('c', children).map((id) => ({ name: id, id, parents: ids('p', parents), children: [] })),
    ];
    const { tasks: specs, edges } = toWorkflow(instanceOf(tasks), 'x', { time: 1 });
    expect(specs.filter(({ command }) => command === undefined)).toHaveLength(1);
    expect(edges).toEqual([
      { parents: [1, 50], children: [51, 51], after: 'success' },
      { parents: [51, 51], children: [52, 91], after: 'success' },
    ]);
  });

  it('takes as long as was recorded, times the scale, and takes memory only when told to', () => {
    const instance = instanceOf(
      [{ name: 'align', id: 'align_ID0001', parents: [], children: [], inputFiles: ['a', 'b'] }],
      [
        {
          ...{ id: 'align_ID0001', runtimeInSeconds: 12.3456, memoryInBytes: 1_000_000, avgCPU: 90.5, coreCount: 2 },
          ...{ machines: ['m1'], command: { program: '/bin/align', arguments: ['-x', 'a'] } },
        },
      ],
    );
    const [plain] = toWorkflow(instance, 'x', { time: 0.001 }).tasks;
    expect(plain).toEqual({
      name: 'align_ID0001',
      command: 'sleep 0.012346',
      template: 'align',
      expectedDurationMs: 12,
      attributes: {
        ...{ name: 'align', program: '/bin/align -x a', machine: 'm1', cores: '2', avgCPU: '90.5' },
        ...{ runtimeInSeconds: '12.3456', memoryInBytes: '1000000', inputFiles: 'a b' },
      },
    });
    const [hungry] = toWorkflow(instance, 'x', { time: 0, memory: 3 }).tasks;
    expect(hungry?.command).toBe('{ head -c 3000000 /dev/zero; sleep 0; } | tail -c 3000000 > /dev/null');
    expect(hungry?.resources).toEqual({ memoryBytes: 3_000_000 + 32 * 1024 * 1024 });
  });
});

describe('a run that becomes an instance', () => {
  const command = (index: number, more: Partial<TaskView> = {}) =>
    ({ id: `w1.${index}`, index, command: 'gzip  -k x', state: 'done', ...more }) as TaskView;
  const attempt = (task: number, number: number, more: Partial<AttemptView>) =>
    ({ id: `w1.${task}#${number}`, number, host: 'n1', state: 'ended', ...more }) as AttemptView;
  const edge = (parents: [number, number], children: [number, number]): EdgeSpec => ({
    ...{ parents, children, after: 'success' },
  });

  it('has what the last attempt of each task took, and where', () => {
    const run = submitted(
      { tasks: [], edges: [] },
      {
        tasks: [
          command(1, { name: 'one' }),
          command(2, { name: 'two', requestedResources: { cpus: 4 } }),
          command(3, { name: 'three' }),
        ],
        attempts: [
          attempt(1, 1, { startedAt: '2026-01-01T00:00:01.000Z', endedAt: '2026-01-01T00:00:02.000Z' }),
          attempt(1, 2, {
            ...{ startedAt: '2026-01-01T00:00:03.000Z', endedAt: '2026-01-01T00:00:05.500Z' },
            ...{ wallMs: 2_500, cpuMs: 1_250, peakBytes: 4_096 },
          }),
          attempt(2, 1, { startedAt: '2026-01-01T00:00:04.000Z', endedAt: '2026-01-01T00:00:09.000Z', host: 'n2' }),
          attempt(3, 1, {}),
        ],
        workers: [{ host: 'n1', slots: 8 } as WorkerView],
      },
    );
    const { execution } = fromRun(run).workflow;
    expect(execution).toEqual({
      makespanInSeconds: 6,
      executedAt: '2026-01-01T00:00:03.000Z',
      tasks: [
        {
          ...{ id: 'one', runtimeInSeconds: 2.5, executedAt: '2026-01-01T00:00:03.000Z' },
          ...{ command: { program: 'gzip', arguments: ['-k', 'x'] }, coreCount: 1, avgCPU: 50, memoryInBytes: 4_096 },
          machines: ['n1'],
        },
        {
          ...{ id: 'two', runtimeInSeconds: 5, executedAt: '2026-01-01T00:00:04.000Z' },
          ...{ command: { program: 'gzip', arguments: ['-k', 'x'] }, coreCount: 4, machines: ['n2'] },
        },
      ],
      machines: [{ nodeName: 'n1', cpu: { coreCount: 8 } }, { nodeName: 'n2' }],
    });
    parseInstance(JSON.stringify(fromRun(run)), 'run');
  });

  it('leads edges through joins that follow on each other, and names tasks by their ids where names do not do', () => {
    const join = (index: number) => ({ id: `w1.${index}`, index, state: 'done' }) as TaskView;
    const run = submitted(
      { tasks: [], edges: [] },
      {
        tasks: [command(1, { name: 'a b' }), command(2), join(3), join(4), command(5), join(6)],
        edges: [
          edge([1, 2], [3, 3]),
          edge([3, 3], [4, 4]),
          edge([4, 4], [5, 5]),
          edge([1, 1], [5, 5]),
          edge([5, 5], [6, 6]),
        ],
      },
    );
    const instance = fromRun(run);
    expect(edgesOf(instance)).toEqual(['w1.1 → w1.5', 'w1.2 → w1.5']);
    expect(instance.workflow.specification.tasks.map(({ children }) => children)).toEqual([['w1.5'], ['w1.5'], []]);
    expect(instance.workflow.execution).toBeUndefined();
  });
});
