/** Limits at a real server with a real worker: what ran at the same time is told by its history. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { plainSpec } from '../controller/spec.ts';
import { lastJson } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;
beforeEach(() => {
  herd = new Herd();
});
afterEach(() => herd.close());

/** The most that were between their start and their end, by the clock of their worker. */
function mostAtOnce(attempts: readonly { readonly startedAt?: string; readonly wallMs?: number }[]): number {
  const times = attempts.flatMap(({ startedAt = '', wallMs = 0 }) => [
    { at: Date.parse(startedAt), change: 1 },
    { at: Date.parse(startedAt) + Math.floor(wallMs), change: -1 },
  ]);
  // Of what begins when another ends, the end comes first: times are in whole ms.
  times.sort((a, b) => a.at - b.at || a.change - b.change);
  let [running, most] = [0, 0];
  for (const { change } of times) {
    running += change;
    most = Math.max(most, running);
  }
  return most;
}

/** Each waits for the two others to run. */
const together = (at: number): string =>
  `touch here.${at}; until [ -e here.1 ] && [ -e here.2 ] && [ -e here.3 ]; do sleep 0.05; done`;

it('no more tasks of a template run at a time than its limit says, and others are not held back', async () => {
  await herd.server();
  await herd.worker('-j', '8');
  const { client } = herd;
  const fits = Array.from({ length: 8 }, () => ({ command: 'sleep 0.1', template: 'fit' }));
  const tasks = [...fits, ...[1, 2, 3].map((at) => ({ command: together(at) }))];
  const spec = { ...plainSpec, cwd: herd.path, concurrency: { templates: { fit: 2 } } };
  const { id } = await client.submitWhole(spec, { tasks, edges: [] });
  expect(lastJson(await herd.ok('wait', id, '--json'))).toMatchObject({ state: 'done' });
  const history = await Promise.all(fits.map(async (_, at) => (await client.task(`${id}.${at + 1}`)).history));
  expect(history.map((attempts) => attempts.length)).toEqual(fits.map(() => 1));
  expect(mostAtOnce(history.flat())).toBeLessThanOrEqual(2);
  const { events } = await client.eventPage({ where: 'type=attempt-recorded,attempt-ended', limit: 1_000 });
  let [recorded, most] = [0, 0];
  for (const { type, task } of events) {
    if (Number(String(task).split('.')[1]) > fits.length) continue;
    recorded += type === 'attempt-recorded' ? 1 : -1;
    most = Math.max(most, recorded);
  }
  expect([most, recorded]).toEqual([2, 0]);
});
