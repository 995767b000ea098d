/** A workflow and its runs: B5, B18, B19, B24, B40. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../seed-a/bench.ts';

let bench: Bench;
let k: string;
let w: string;

beforeEach(async () => {
  bench = new Bench();
  await bench.start();
  k = await bench.worker();
  w = await bench.submit([{ command: 'x' }, { command: 'y' }, { command: 'z' }]);
  await bench.run(k, `${w}.1`);
  await bench.claim(k, `${w}.2`);
});

afterEach(() => bench.stop());

const post = (action: string, body?: object) => bench.call('POST', `workflows/${w}/${action}`, body);
const workflow = async () => (await bench.call('GET', `workflows/${w}`)).body;
const moves = async (): Promise<string[]> => {
  const { events } = (await bench.call('GET', `events?limit=1000&where=${encodeURIComponent(`workflow=${w}`)}`)).body;
  return events
    .filter(({ type }: { type: string }) => type === 'workflow-moved')
    .map(({ to, run }: { to: string; run?: string }) => (run === undefined ? to : `${to} (${run})`));
};

describe('a run', () => {
  it('B18, B19: is instantiated, then launched until the first look of the scheduler, then running', async () => {
    expect(await moves()).toEqual(['queued', 'instantiating (fresh)', 'launched', 'running']);
  });

  it('B24: is halted in the middle: what is done stays done, what is not stays queued, and nothing is launched', async () => {
    expect((await post('halt', { mode: 'drain' })).body.state).toBe('halting');
    expect(await bench.available()).toEqual([]);
    expect(await bench.claim(k, `${w}.3`)).toMatchObject({ status: 409 });
    await bench.end(k, `${w}.2`);
    expect(await workflow()).toMatchObject({ state: 'halted', run: 1 });
    expect(await bench.states(w)).toEqual(['done', 'done', 'queued']);
  });

  it('B40: follows on another only when that has halted, by the last word of its workers', async () => {
    expect(await post('resume', { how: 'cold' })).toMatchObject({
      status: 409,
      body: { error: { code: 'run-is-live' } },
    });
    await post('halt', { mode: 'drain' });
    expect(await post('resume', { how: 'cold' })).toMatchObject({
      status: 409,
      body: { error: { code: 'run-is-live' } },
    });
    expect((await workflow()).run).toBe(1);
    await bench.end(k, `${w}.2`);
    expect((await post('resume', { how: 'cold' })).body).toMatchObject({ run: 2 });
    expect((await moves()).slice(4)).toEqual(['halting', 'halted', 'instantiating (cold)', 'launched', 'running']);
  });

  it('B40: or takes over what another has left running, in one transaction, so that at most one is live', async () => {
    await post('halt', { mode: 'drain' });
    const both = await Promise.all([post('resume', { how: 'hot' }), post('resume', { how: 'hot' })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await workflow()).toMatchObject({ state: 'running', run: 2 });
    expect((await bench.task(`${w}.2`)).history).toMatchObject([{ number: 1, state: 'running' }]);
    await bench.end(k, `${w}.2`);
    await bench.run(k, `${w}.3`);
    expect(await workflow()).toMatchObject({ state: 'done', run: 2 });
    expect((await bench.task(`${w}.1`)).attempts).toBe(1);
  });

  it('B5: ends as its tasks did, and failed ones are tried again by the next', async () => {
    await bench.end(k, `${w}.2`, { exit_status: 1 });
    await bench.run(k, `${w}.3`);
    expect(await workflow()).toMatchObject({ state: 'failed', run: 1 });
    await post('resume', { how: 'cold' });
    expect(await bench.available()).toEqual([`${w}.2`]);
    await bench.run(k, `${w}.2`);
    expect(await workflow()).toMatchObject({ state: 'done', run: 2 });
  });
});
