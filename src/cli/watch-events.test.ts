import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { plainSpec } from '../../test/controller/spec.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeAll(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterAll(() => controller.close());
beforeEach(() => bench.renew());

const submit = async (...commands: string[]): Promise<string> => {
  const tasks = commands.map((command) => ({ command }));
  return (await bench.client.submitWhole(plainSpec, { tasks, edges: [] })).id;
};

describe('drover watch', () => {
  it('tells what happens to a workflow, until it has ended', async () => {
    const id = await submit('hang a', 'fail b');
    const watching = bench.drover('watch', id, '--after', '0');
    await eventually(() => expect(bench.env.stdout.text).toMatch(/w\d+\.2 +failed: attempts/));
    expect(bench.env.stdout.text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} {2}w1 .*registered/);
    expect(bench.env.stdout.text).toMatch(/w\d+\.2#1 +ended on here: exit 1/);
    await bench.client.cancel(id);
    expect(await watching).toBe(0);
    expect(bench.env.stdout.lines.at(-1)).toMatch(/w1 +is failed$/);
    expect(bench.env.stdout.text).not.toContain('recorded');
  });

  it('tells the same of one that has ended already, and rings', async () => {
    const id = await submit('a');
    await eventually(async () => expect((await bench.client.workflow(id)).state).toBe('done'));
    bench.env.stderr.isTerminal = true;
    expect(await bench.drover('watch', id, '--after', '0', '--where', 'state=done', '--json', '--bell')).toBe(0);
    const events = bench.env.stdout.lines.map((line) => JSON.parse(line));
    expect(events.map(({ type, task }) => [type, task])).toEqual([
      ['task-changed', `${id}.1`],
      ['workflow-moved', undefined],
    ]);
    expect(bench.env.stderr.text).toContain(`\u001b]9;${id} is done\u0007`);
  });

  it('ends with its workflow although its filter leaves the end out', async () => {
    const id = await submit('hang a');
    const watching = bench.drover('watch', id, '--after', '0', '--where', 'type=attempt-ended');
    await bench.client.cancel(id);
    expect(await watching).toBe(0);
    expect(bench.env.stdout.lines).toHaveLength(1);
  });

  it('is ended by Ctrl-C', async () => {
    const watching = bench.drover('watch');
    await eventually(() => expect(controller.requests.at(-1)).toContain('events/stream'));
    bench.env.raise('SIGINT');
    expect(await watching).toBe(130);
  });

  it.each([
    [['watch', 'x'], 'names no workflow'],
    [['watch', '--after', 'soon'], 'the number of an event'],
    [['watch', '--where', 'stat=x'], "no field 'stat'"],
  ])('refuses %j', async (words, message) => {
    expect(await bench.drover(...words)).toBe(2);
    expect(bench.env.stderr.text).toContain(message);
  });
});
