/** What becomes of a task that ran out of what it was given: B34, B35. all-rules.test.ts lists what is to come. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../seed-a/bench.ts';

let bench: Bench;
let k: string;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  k = await bench.worker();
});

afterEach(() => bench.stop());

interface Event {
  readonly type: string;
  readonly task?: string;
  readonly outcome?: { readonly kind: string };
}

describe('a task that ran out of memory', () => {
  it('B34: is told by its worker to have done so, apart from other bad ends, and that is stored', async () => {
    const w = await bench.submit([{ command: 'x' }, { command: 'y' }]);
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.2`, { exit_status: 137 });
    await bench.restart();
    const ends = await Promise.all([1, 2].map(async (index) => (await bench.task(`${w}.${index}`)).outcome));
    expect(ends).toEqual([
      { kind: 'resource', resource: 'memory' },
      { kind: 'exited', code: 137 },
    ]);
  });

  it('B35: is among all that has changed since one last asked, and is told once', async () => {
    const w = await bench.submit([{ command: 'x' }, { command: 'y' }]);
    const since = async (cursor: string): Promise<{ events: Event[]; next: string }> =>
      (await bench.call('GET', `events?limit=1000&cursor=${cursor}`)).body;
    const { next } = await since('0');
    await bench.run(k, `${w}.1`, { resource: 'memory' });
    await bench.run(k, `${w}.2`);
    const news = await since(next);
    const ends = news.events.filter(({ type }) => type === 'attempt-ended');
    expect(ends.map(({ task, outcome }) => `${task} ${outcome?.kind}`)).toEqual([
      `${w}.1 resource`,
      `${w}.2 succeeded`,
    ]);
    expect((await since(news.next)).events).toEqual([]);
  });
});
