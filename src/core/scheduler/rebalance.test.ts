import { describe, expect, it } from 'vitest';
import { command, Herd } from '../../../test/core/herd.ts';
import { workerId } from '../../model/ids.ts';
import { overdueMs } from '../../model/limits.ts';
import { overdueAttempts } from './rebalance.ts';

/** One slot, of which tasks took a millisecond until now, and four tasks: three are sent ahead. */
function busy(): Herd {
  const herd = new Herd(1);
  const [worker] = herd.cluster.workers.values();
  if (worker !== undefined) worker.averageMs = 1;
  const workflow = herd.submit(Array.from({ length: 4 }, () => command));
  herd.launch();
  herd.start(workflow, 1);
  return herd;
}

describe('tasks that wait behind a long one on its worker', () => {
  it('are taken back, the last one first, when another worker has room', () => {
    const herd = busy();
    herd.addWorker(2);
    herd.now += overdueMs;
    expect(overdueAttempts(herd.cluster, herd.now)).toEqual([4, 3]);
  });

  it('stay as long as nobody has room, as it is for somebody who may not be given tasks', () => {
    const herd = busy();
    herd.now += overdueMs;
    expect(overdueAttempts(herd.cluster, herd.now)).toEqual([]);
    herd.addWorker(2);
    const idle = herd.cluster.workers.get(workerId(2));
    if (idle !== undefined) idle.bar = { kind: 'drained', why: 'by command' };
    expect(overdueAttempts(herd.cluster, herd.now)).toEqual([]);
  });

  it('stay for a moment, since they may be about to begin', () => {
    const herd = busy();
    herd.addWorker(2);
    expect(overdueAttempts(herd.cluster, herd.now)).toEqual([]);
  });
});
