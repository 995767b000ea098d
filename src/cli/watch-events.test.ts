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

  it('tells of an attempt alone', async () => {
    const { id } = await bench.client.submitWhole(
      { ...plainSpec, maxAttempts: 2 },
      { tasks: [{ command: 'fail a' }], edges: [] },
    );
    await eventually(async () => expect((await bench.client.workflow(id)).state).toBe('done'));
    const watching = bench.drover('watch', `${id}.1#1`, '--after', '0', '--where', 'type=attempt-ended', '--json');
    const after = bench.drover('watch', `${id}.1#2`, '--after', '0', '--where', 'type=attempt-ended', '--json');
    await eventually(() => expect(bench.env.stdout.lines).toHaveLength(2));
    bench.env.raise('SIGINT');
    expect(await Promise.all([watching, after])).toEqual([130, 130]);
    const attempts = bench.env.stdout.lines.map((line) => JSON.parse(line).attempt).sort();
    expect(attempts).toEqual([`${id}.1#1`, `${id}.1#2`]);
  });

  it('is ended by Ctrl-C', async () => {
    const before = controller.requests.length;
    const watching = bench.drover('watch');
    const begun = expect.arrayContaining([expect.stringContaining('events/stream')]);
    await eventually(() => expect(controller.requests.slice(before)).toEqual(begun));
    bench.env.raise('SIGINT');
    expect(await watching).toBe(130);
  });

  it.each([
    [['watch', 'x'], 'names no workflow'],
    [['watch', 'w1.99'], 'there is no task w1.99'],
    [['watch', '--after', 'soon'], 'the number of an event'],
    [['watch', '--where', 'stat=x'], "no field 'stat'"],
  ])('refuses %j', async (words, message) => {
    expect(await bench.drover(...words)).toBe(2);
    expect(bench.env.stderr.text).toContain(message);
  });
});
