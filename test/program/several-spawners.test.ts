/** A worker that starts processes by several spawners at once, as one on a machine of many cores does. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { mark, type Place, place, sleepers, spawnersOf, until } from './drover.ts';

const env = { DROVER_SPAWNERS: '3' };
let here: Place;

beforeEach(() => {
  here = place();
});

afterEach(() => here.remove());

it('uses every slot, and none for two tasks at a time', async () => {
  const task = 'mkdir slot-$DROVER_SLOT; sleep 0.05; rmdir slot-$DROVER_SLOT; echo $DROVER_SLOT >> used; true {}';
  const numbers = Array.from({ length: 60 }, (_, at) => String(at));
  const { code, stderr } = await here.run(['run', '-j', '5', task, ':::', ...numbers], { env });
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('File exists')]);
  const used = readFileSync(join(here.path, 'used'), 'utf8').trim().split('\n');
  expect(used).toHaveLength(60);
  expect([...new Set(used)].sort()).toEqual(['1', '2', '3', '4', '5']);
  expect(readdirSync(here.path).filter((name) => name.startsWith('slot-'))).toEqual([]);
});

it('loses all that ran when one of them is killed, and runs each of those again, once', async () => {
  const long = mark();
  const task = `echo {} >> begun; [ -e again ] || sleep ${long}`;
  const run = here.start(['run', '-j', '5', task, ':::', '1', '2', '3', '4', '5'], '', { env });
  await until('all run', () => sleepers(long).length === 5);
  const all = spawnersOf(here.path);
  expect(all).toHaveLength(3);
  writeFileSync(join(here.path, 'again'), '');
  process.kill(all[1] ?? 0, 'SIGKILL');
  expect((await run.ended).code).toBe(0);
  expect(sleepers(long)).toEqual([]);
  const begun = readFileSync(join(here.path, 'begun'), 'utf8').trim().split('\n').sort();
  expect(begun).toEqual(['1', '1', '2', '2', '3', '3', '4', '4', '5', '5']);
});
