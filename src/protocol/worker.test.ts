import { describe, expect, it } from 'vitest';
import { usageLimits } from '../model/limits.ts';
import { presets } from '../model/timeouts.ts';
import { decodeFromWorker, decodeToWorker, encodeFrames, type Order, type ToWorker } from './worker.ts';

const order = (attempt: number, command: string): Order => ({
  ...{ attempt, task: attempt, workflow: 1, index: attempt, number: 1, command },
});
const run = (...orders: Order[]): ToWorker => ({ t: 'run', scheduler: 's', instance: 'i', seq: 0, specs: [], orders });

describe('what attempts use', () => {
  const usage = (...parts: object[]): string =>
    JSON.stringify([{ t: 'usage', scheduler: 's', instance: 'i', series: parts }]);
  const part = (samples: number, more: object = {}): object => ({
    ...{ attempt: 1, metric: 'cpu', samples: Array(samples).fill({ at: 1, value: 1 }), ...more },
  });

  it('comes from a worker in messages of a limited size', () => {
    expect(decodeFromWorker(usage(part(1), part(usageLimits.messageSamplesMax)))).toHaveLength(1);
    expect(() => decodeFromWorker(usage(part(usageLimits.messageSamplesMax + 1)))).toThrow(/malformed/);
    expect(() => decodeFromWorker(usage(part(1, { metric: 'disk' })))).toThrow(/malformed/);
    expect(() => decodeFromWorker(usage(part(1, { samples: [{ at: 1, value: -1 }] })))).toThrow(/malformed/);
  });

  it('is asked for by a reply that a worker which knows nothing of it takes, too', () => {
    const timeouts = presets.interactive;
    const known = { scheduler: 's', instance: 'i', beat: 1, worker: 1, state: 'new', timeouts };
    const reply = (more: object): string => JSON.stringify([{ t: 'heartbeat-reply', ...known, ...more }]);
    expect(decodeToWorker(reply({ takes: ['usage', 'more'] }))).toHaveLength(1);
    expect(decodeToWorker(reply({ another: ['field'] }))).toHaveLength(1);
  });
});

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
