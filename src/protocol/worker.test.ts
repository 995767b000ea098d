import { describe, expect, it } from 'vitest';
import { decodeToWorker, encodeFrames, type Order, type ToWorker } from './worker.ts';

const order = (attempt: number, command: string): Order => ({
  ...{ attempt, task: attempt, workflow: 1, index: attempt, number: 1, command },
});
const run = (...orders: Order[]): ToWorker => ({ t: 'run', scheduler: 's', instance: 'i', seq: 0, specs: [], orders });

describe('frames to a worker', () => {
  it('carry a command that many orders have once', () => {
    const messages = [run(order(1, 'long'), order(2, 'long'), order(3, 'other')), run(order(4, 'other'))];
    const frames = encodeFrames(messages);
    expect(frames).toHaveLength(1);
    expect(frames.join().match(/long/g)).toHaveLength(1);
    expect(decodeToWorker(frames.join())).toEqual(messages);
  });

  it('are refused when an order has no command, nor one before it', () => {
    const [frame = ''] = encodeFrames([run(order(1, 'long'))]);
    expect(() => decodeToWorker(frame.replace('"command":"long"', '"name":"n"'))).toThrow(/no command/);
  });
});
