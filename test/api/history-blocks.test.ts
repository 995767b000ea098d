/** What streams that are behind cost: the store is read once for all of them, a block at a time. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HistoryBlocks } from '../../src/api/events/blocks.ts';
import type { ControllerShell } from '../../src/controller/shell.ts';
import { eventStreamLimits as limits } from '../../src/model/limits.ts';
import { Client } from '../../src/sdk/client.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let last = 0;
/** Reads of the store, and how many of them were under way at most. */
let [reads, underWay, mostUnderWay] = [0, 0, 0];

beforeAll(async () => {
  controller = await startController();
  const client = new Client(controller.access);
  while (last < 3 * limits.blockChanges) {
    for (let count = 0; count < 100; count++) await client.register(plainSpec);
    last = Number.parseInt((await client.eventPage({ cursor: 'now' })).next, 10);
  }
});

afterAll(() => controller.close());

function watched(): ControllerShell {
  const { shell } = controller;
  [reads, underWay, mostUnderWay] = [0, 0, 0];
  const history = async (...asked: Parameters<typeof shell.store.history>) => {
    reads++;
    mostUnderWay = Math.max(mostUnderWay, ++underWay);
    const found = await shell.store.history(...asked);
    underWay--;
    return found;
  };
  return { store: { ...shell.store, history }, controller: shell.controller } as unknown as ControllerShell;
}

async function readAll(blocks: HistoryBlocks, from: number): Promise<number[]> {
  const seen: number[] = [];
  for (let at = from; ; ) {
    const { entries } = await blocks.after(at);
    if (entries.length === 0) return seen;
    expect(entries.length).toBeLessThanOrEqual(limits.changesAtOnce);
    seen.push(...entries.map(({ seq }) => seq));
    at = seen.at(-1) ?? at;
  }
}

it('1, 2: each block is read once, one at a time, for all who want it, wherever they begin', async () => {
  const blocks = new HistoryBlocks(watched());
  const begins = [0, 0, 0, 1, 7, limits.blockChanges - 1, limits.blockChanges, limits.blockChanges + 1, 900];
  const seen = await Promise.all(begins.map((from) => readAll(blocks, from)));
  for (const [at, seqs] of seen.entries()) {
    const from = begins[at] ?? 0;
    expect(seqs).toEqual(Array.from({ length: last - from }, (_, offset) => from + offset + 1));
  }
  const whole = Math.floor(last / limits.blockChanges);
  // The last block grows, and is read by each that comes to its end.
  expect(reads).toBeLessThanOrEqual(whole + 3 * begins.length);
  expect(mostUnderWay).toBe(1);
});

it('2: what nobody has wanted for the longest time is read again', async () => {
  const blocks = new HistoryBlocks(watched());
  await readAll(blocks, 0);
  const before = reads;
  await blocks.after(0);
  expect(reads).toBe(before);
  blocks.forget();
  await blocks.after(0);
  expect(reads).toBe(before + 1);
});
