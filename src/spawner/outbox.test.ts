import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { decodeFrame, type FromSpawner } from '../protocol/spawner.ts';
import { until } from './driver.testing.ts';
import { Outbox } from './outbox.ts';

it('what tasks use is dropped while the pipe is full, and nothing else is', async () => {
  const written: FromSpawner[] = [];
  let drain: () => void = () => {};
  const pipe = new Writable({
    highWaterMark: 1,
    decodeStrings: false,
    write(chunk: string, _, done) {
      written.push(...decodeFrame<FromSpawner>(chunk.trimEnd()));
      drain = done;
    },
  });
  const blocked: boolean[] = [];
  const outbox = new Outbox(pipe, {
    onBlocked: (isBlocked) => blocked.push(isBlocked),
    mayWait: () => false,
    atLast: () => [],
    hasMore: () => false,
  });
  const usage: FromSpawner = { t: 'usage', samples: [[1, 'cpu', 1, 1]] };
  outbox.send(usage);
  await until(() => blocked.length === 1, 'the pipe to be full');
  outbox.send({ t: 'dropped', key: 1 });
  outbox.send(usage);
  outbox.send({ t: 'dropped', key: 2 });
  drain();
  await until(() => written.length >= 3, 'the rest');
  expect(written).toEqual([usage, { t: 'dropped', key: 1 }, { t: 'dropped', key: 2 }]);
  expect(blocked.slice(0, 2)).toEqual([true, false]);
});
