/** Recorded workflows, run by the real program and written again. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventView } from '../../src/protocol/views/events.ts';
import { parseInstance } from '../../src/wfformat/parse.ts';
import { edgesOf, idsOf, instanceFiles, readInstance } from '../wfformat/instances.ts';
import { lastJson } from './drover.ts';
import { Herd } from './herd.ts';

const herd = new Herd();

beforeAll(async () => {
  await herd.server();
  await herd.worker('-j', '8');
});

afterAll(() => herd.close());

/** All of one workflow so far. */
async function eventsOf(workflow: string): Promise<EventView[]> {
  const events: EventView[] = [];
  for (let cursor = '0'; ; ) {
    const page = await herd.client.eventPage({ where: `workflow=${workflow}`, cursor, limit: 1_000 });
    events.push(...page.events);
    if (page.next === cursor) return events;
    cursor = page.next;
  }
}

describe('a recorded workflow', () => {
  it.each(instanceFiles)(
    'runs in an order that respects every edge, and is written as it was read: %s',
    async (file) => {
      const instance = readInstance(file);
      const result = lastJson(await herd.ok('import', 'wfformat', file, '--scale', '0.001', '--run', '--json'));
      const { tasks } = instance.workflow.specification;
      expect(result).toMatchObject({ state: 'done', done: tasks.length });
      const id = String(result.id);

      const nameOf = new Map<string, string>();
      for await (const task of herd.client.eachTask({ where: `workflow=${id}` })) nameOf.set(task.id, task.name ?? '');
      const [recorded, done] = [new Map<string, number>(), new Map<string, number>()];
      for (const { type, task = '', seq, to } of await eventsOf(id)) {
        const name = nameOf.get(task) ?? '';
        if (type === 'attempt-recorded') recorded.set(name, seq);
        if (type === 'task-changed' && to === 'done') done.set(name, seq);
      }
      expect(recorded.size).toBe(tasks.length);
      for (const { id: child, parents } of tasks) {
        for (const parent of parents) expect(recorded.get(child)).toBeGreaterThan(done.get(parent) ?? Number.NaN);
      }

      const output = herd.file(`${id}.json`);
      await herd.ok('export', 'wfformat', id, '--output', output);
      const again = parseInstance(readFileSync(output, 'utf8'), output);
      expect(idsOf(again)).toEqual(idsOf(instance));
      expect(edgesOf(again)).toEqual(edgesOf(instance));
      const asked = new Map(instance.workflow.execution?.tasks.map((one) => [one.id, one.runtimeInSeconds / 1_000]));
      for (const { id: one, runtimeInSeconds } of again.workflow.execution?.tasks ?? []) {
        expect(runtimeInSeconds).toBeGreaterThanOrEqual((asked.get(one) ?? Number.NaN) - 0.002);
      }
      expect(again.workflow.execution?.tasks).toHaveLength(tasks.length);
    },
  );

  it('really takes its memory, when told to', async () => {
    const bytes = 60_000_000;
    const instance = {
      ...{ name: 'hungry', schemaVersion: '1.5' },
      workflow: {
        specification: { tasks: [{ name: 'eat', id: 'eat', parents: [], children: [] }] },
        execution: {
          ...{ makespanInSeconds: 1, executedAt: 'then' },
          tasks: [{ id: 'eat', runtimeInSeconds: 1, memoryInBytes: bytes / 2 }],
        },
      },
    };
    herd.write('hungry.json', JSON.stringify(instance));
    const { id } = lastJson(
      await herd.ok('import', 'wfformat', 'hungry.json', '--memory-scale', '2', '--run', '--json'),
    );
    const [attempt] = (await herd.task(`${id}.1`)).history;
    expect(attempt?.peakBytes).toBeGreaterThan(bytes);
    expect(attempt?.peakBytes).toBeLessThan(bytes + 32 * 1024 * 1024);
  });

  it('is written as lines that the API takes', async () => {
    const [file = ''] = instanceFiles;
    await herd.ok('import', 'wfformat', file, '--scale', '0', '--output', 'definition.ndjson');
    const [spec = '', ...lines] = herd.lines('definition.ndjson');
    const { id } = await herd.client.submitByLines(
      JSON.parse(spec),
      lines.map((line) => JSON.parse(line)),
    );
    await herd.ok('wait', id);
    const written = await herd.ok('export', 'wfformat', id);
    expect(edgesOf(JSON.parse(written))).toEqual(edgesOf(readInstance(file)));
  });
});
