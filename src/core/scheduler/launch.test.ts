import { describe, expect, it } from 'vitest';
import { command, Herd } from '../../../test/core/herd.ts';
import { type WorkerId, type WorkflowId, workerId } from '../../model/ids.ts';
import { prefetchMs } from '../../model/limits.ts';
import type { WorkerRecord } from '../worker.ts';

const commands = (count: number) => Array.from({ length: count }, () => command);

class Bench extends Herd {
  worker(id: WorkerId): WorkerRecord {
    return this.cluster.workers.get(id) as WorkerRecord;
  }

  launched(workflow: WorkflowId): number {
    return this.cluster.workflow(workflow).count('launched');
  }
}

describe('launching', () => {
  it('lets workflows take turns, from one launch to the next as well', () => {
    const bench = new Bench(4);
    const workflows = [1, 2, 3].map(() => bench.submit(commands(10)));
    bench.launch();
    expect(workflows.map((workflow) => bench.launched(workflow))).toEqual([2, 1, 1]);
    bench.addWorker(2);
    bench.launch();
    expect(workflows.map((workflow) => bench.launched(workflow))).toEqual([2, 2, 2]);
  });

  it('sends work ahead of slots by how long tasks take, but nothing of a workflow that fails fast', () => {
    const bench = new Bench(2);
    bench.worker(workerId(1)).averageMs = prefetchMs / 2;
    const hasty = bench.submit(commands(10), [], { failFast: true });
    const patient = bench.submit(commands(10));
    bench.launch();
    expect([bench.launched(hasty), bench.launched(patient)]).toEqual([1, 5]);
  });

  it('finds a worker again that had no room, was barred, or had another number of slots', () => {
    const bench = new Bench(1);
    const workflow = bench.submit(commands(10));
    const bar = { kind: 'drained', why: 'by command' } as const;
    bench.turn((turn) => turn.emit({ type: 'worker-barred', worker: workerId(1), bar }));
    bench.launch();
    expect(bench.launched(workflow)).toBe(0);
    bench.turn((turn) => turn.emit({ type: 'worker-barred', worker: workerId(1) }));
    bench.launch();
    bench.launch();
    expect(bench.launched(workflow)).toBe(1);
    bench.turn((turn) => turn.emit({ type: 'worker-resized', worker: workerId(1), slots: 3 }));
    bench.launch();
    expect(bench.launched(workflow)).toBe(3);
    bench.end(workflow, 1);
    bench.launch();
    expect(bench.launched(workflow)).toBe(3);
  });

  it('looks at nobody when there is nothing to launch, and at no workflow when nobody has room', () => {
    const bench = new Bench(1);
    for (let count = 0; count < 5; count++) bench.addWorker(1);
    const workflow = bench.submit(commands(7));
    bench.launch();
    expect([bench.launched(workflow), bench.cluster.candidates.vacant.size]).toEqual([6, 0]);
    bench.finish(workflow);
    bench.launch();
    expect(bench.cluster.lanes.isEmpty).toBe(true);
    expect(bench.cluster.candidates.vacant.size).toBe(6);
  });
});
