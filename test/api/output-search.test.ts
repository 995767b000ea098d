/** Searches in output, of which some are left unread. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchOutput, Turns } from '../../src/api/output-search.ts';
import { searchLimits } from '../../src/model/limits.ts';
import { taskFields } from '../../src/protocol/filter/fields.ts';
import { parseFilter } from '../../src/protocol/filter/language.ts';
import { Client } from '../../src/sdk/client.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let client: Client;

beforeAll(async () => {
  controller = await startController();
  client = new Client(controller.access);
  // A match of each is told by so many bytes that no connection holds all of them.
  const tasks = Array.from({ length: 20 }, () => ({ command: 'x\n'.repeat(50_000) }));
  const { id } = await client.submitWhole(plainSpec, { tasks, edges: [] });
  await eventually(async () => expect((await client.workflow(id)).state).toBe('done'));
});

afterAll(() => controller.close());

const plain = { streams: ['stdout'], context: 0, attempt: undefined, cursor: undefined } as const;

async function open(): Promise<IncomingMessage> {
  const { url, token } = controller.access;
  const call = request(`${url}/api/v1/output/search?pattern=x`, { headers: { authorization: `Bearer ${token}` } });
  call.on('error', () => {});
  call.end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  return answer.pause();
}

it('lines that match are told many at a time, and no more than are looked at together', async () => {
  const sizes = (await Array.fromAsync(client.searchOutputPieces({ pattern: 'x', where: 'index=20' }))).map(
    (lines) => lines.length,
  );
  expect(sizes.reduce((sum, size) => sum + size)).toBe(50_000);
  const { shell } = controller;
  const filter = parseFilter('workflow=w1&index=20', taskFields, shell.now());
  const pattern = { find: (texts: readonly string[]) => texts.map(() => [[0, 1]] as const) };
  const told = await Array.fromAsync(searchOutput(shell, { turns: new Turns(1), filter, pattern, ...plain }));
  expect(told.length).toBeLessThan(100);
  expect(Math.max(...told.map((lines) => lines.length))).toBe(searchLimits.linesAtOnce);
});

it('those that nobody reads keep nobody from searching', async () => {
  const unread = await Promise.all(Array.from({ length: 2 * searchLimits.turnsMax }, open));
  const found = await Array.fromAsync(client.searchOutput({ pattern: 'out of', where: 'index=20' }));
  expect(found.map(({ task, line }) => [task, line])).toEqual([['w1.20', 1]]);
  for (const answer of unread) answer.destroy();
});

it('there are so many at a time; one more is told so', async () => {
  const unread = await Promise.all(Array.from({ length: searchLimits.searchesMax }, open));
  await expect(Array.fromAsync(client.searchOutput({ pattern: 'y' }))).rejects.toMatchObject({
    code: 'too-many-streams',
  });
  for (const answer of unread) answer.destroy();
});

it('the expression is given so few lines and characters at a time that a plain one is never taken for a slow one', async () => {
  const lines = ['x'.repeat(50_000), ...Array<string>(5_000).fill(''), ...Array<string>(5_000).fill('y'.repeat(100))];
  const { id } = await client.submitWhole(plainSpec, { tasks: [{ command: lines.join('\n') }], edges: [] });
  await eventually(async () => expect((await client.workflow(id)).state).toBe('done'));
  const given: (readonly string[])[] = [];
  const pattern = {
    find: (texts: readonly string[]) => {
      given.push(texts);
      return texts.map(() => []);
    },
  };
  const { shell } = controller;
  const filter = parseFilter(`workflow=${id}`, taskFields, shell.now());
  await Array.fromAsync(searchOutput(shell, { turns: new Turns(1), filter, pattern, ...plain }));
  const { linesAtOnce, charactersAtOnce, lineCharactersMax } = searchLimits;
  expect(given.flat().join('')).toBe(`out of ${lines.join('')}`);
  expect(Math.max(...given.map((texts) => texts.length))).toBeLessThanOrEqual(linesAtOnce);
  const characters = given.map((texts) => texts.join('').length);
  expect(Math.max(...characters)).toBeLessThan(charactersAtOnce + lineCharactersMax);
});
