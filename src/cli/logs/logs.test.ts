import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../../test/controller/in-process.ts';
import { plainSpec } from '../../../test/controller/spec.ts';
import { CliBench } from '../bench.testing.ts';
import { LineCutter, lineBytesMax } from './lines.ts';
import { LogFollower } from './many.ts';
import { beginOfLast } from './tail.ts';

let controller: InProcessController;
let bench: CliBench;

const submit = async (...commands: string[]): Promise<string> => {
  const tasks = commands.map((command) => ({ command }));
  return (await bench.client.submitWhole(plainSpec, { tasks, edges: [] })).id;
};

const renew = (): void => {
  bench.renew();
  bench.env.compilePattern = controller.compilePattern;
};

const untilEnded = (id: string) =>
  eventually(async () => expect((await bench.client.workflow(id)).endedAt).toBeDefined());

beforeAll(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
  // Each writes 'out of ' and its command; what fails also 'oh' to stderr.
  await untilEnded(await submit('a\nerror 1\nb\nc\nerror 2', 'fail x', 'ok\n\u001b[2Jerror 3', 'last'));
});

afterAll(() => controller.close());
beforeEach(() => renew());

describe('logs of many tasks', () => {
  it('come line by line, in the order of the tasks, with their names', async () => {
    expect(await bench.drover('logs', 'w1')).toBe(0);
    expect(bench.env.stdout.lines).toEqual([
      ...['w1.1 | out of a', 'w1.1 | error 1', 'w1.1 | b', 'w1.1 | c', 'w1.1 | error 2', 'w1.2 | out of fail x'],
      ...['w1.3 | out of ok', 'w1.3 | \u001b[2Jerror 3', 'w1.4 | out of last'],
    ]);
  });

  it('do nothing to a terminal', async () => {
    bench.env.stdout.isTerminal = true;
    expect(await bench.drover('logs', 'w1.3', 'w1.4')).toBe(0);
    expect(bench.env.stdout.lines).toEqual(['w1.3 | out of ok', 'w1.3 | \\x1b[2Jerror 3', 'w1.4 | out of last']);
  });

  it.each([
    [
      ['w1', '--failed', '--both'],
      ['w1.2 | out of fail x', 'w1.2 ! oh'],
    ],
    [['w1', '--failed', '--stderr'], ['w1.2 ! oh']],
    [['--where', 'workflow=w1&exit=1'], ['w1.2 | out of fail x']],
    [
      ['w1.4', 'w1.2'],
      ['w1.4 | out of last', 'w1.2 | out of fail x'],
    ],
    [
      ['w1', '--tail', '1'],
      ['w1.1 | error 2', 'w1.2 | out of fail x', 'w1.3 | \u001b[2Jerror 3', 'w1.4 | out of last'],
    ],
  ])('are chosen: %j', async (words, lines) => {
    expect(await bench.drover('logs', ...words)).toBe(0);
    expect(bench.env.stdout.lines).toEqual(lines);
  });

  it('of several that are named, ask for all of them at once, and for the output of each', async () => {
    const before = controller.requests.length;
    expect(await bench.drover('logs', 'w1.4', 'w1.1', 'w1.2', 'w1.3', '--stderr')).toBe(0);
    const asked = controller.requests.slice(before).filter((line) => line.includes('/tasks'));
    expect(asked.filter((line) => line.includes('/output'))).toHaveLength(4);
    expect(asked.filter((line) => !line.includes('/output'))).toEqual(
      new Array(2).fill(expect.stringContaining('/tasks?where=id%3Dw1.4%2Cw1.1%2Cw1.2%2Cw1.3')),
    );
  });

  it('of several that are named, one of which is not there, say which', async () => {
    expect(await bench.drover('logs', 'w1.4', 'w1.99', 'w1.2')).toBe(2);
    expect([bench.env.stdout.text, bench.env.stderr.text]).toEqual(['', expect.stringContaining('no task w1.99')]);
  });

  it('of one, only the last lines', async () => {
    expect(await bench.drover('logs', 'w1.1', '--tail', '2')).toBe(0);
    expect(bench.env.stdout.text).toBe('c\nerror 2');
  });

  it('of one, both streams go where it sent them', async () => {
    expect(await bench.drover('logs', 'w1.2', '--both')).toBe(0);
    expect([bench.env.stdout.text, bench.env.stderr.text]).toEqual(['out of fail x', 'oh\n']);
  });

  it('are followed as they come, also those that begin later, until all is over', async () => {
    const id = await submit('hang 1', 'quick', 'hang 2', 'hang 3', 'hang 4', 'hang 5');
    const following = bench.drover('logs', id, '-f');
    const begun = ['1', '2', '3', '4'].map((number) => expect.stringContaining(`| out of hang ${number}`));
    // The fifth that hangs waits for a slot.
    await eventually(async () => expect((await bench.client.workflow(id)).counts.running).toBe(4));
    for (const task of [1, 3, 4]) await bench.client.cancelTask(`${id}.${task}`);
    await eventually(() => expect(bench.env.stdout.text).toContain('out of hang 3'));
    await bench.client.cancel(id);
    expect(await following).toBe(0);
    const { lines } = bench.env.stdout;
    expect(lines).toEqual(expect.arrayContaining([...begun.slice(0, 3), expect.stringContaining('| out of quick')]));
    expect(new Set(lines).size).toBe(lines.length);
  });

  it.each([[[]], [['--both']]])('end when nobody reads any more, whatever goes on in silence: %j', async (words) => {
    const id = await submit('hang 1\n', 'hang 2');
    await eventually(async () => expect((await bench.client.workflow(id)).counts.running).toBe(2));
    // The line of `hang 2` has no end, and stderr has no line: both have nothing to say, and never end.
    bench.env.stdout.isClosed = true;
    expect(await bench.drover('logs', id, '-f', ...words)).toBe(0);
    expect(await bench.drover('logs', `${id}.1`, '-f', ...words)).toBe(0);
    await bench.client.cancel(id);
  });

  it('of one that is tried again go on with the next attempt, and end with the task', async () => {
    const { id } = await bench.client.submitWhole(
      { ...plainSpec, maxAttempts: 2 },
      { tasks: [{ command: 'fail a\n' }, { command: 'exit 1 b\n' }], edges: [] },
    );
    expect(await bench.drover('logs', `${id}.1`, '-f')).toBe(0);
    expect(bench.env.stdout.text).toBe('out of fail a\nout of fail a\n');
    expect(bench.env.stderr.text).toBe(`drover: ${id}.1 is tried again: attempt 2\n`);
    renew();
    expect(await bench.drover('logs', `${id}.2#1`, '-f', '--stderr')).toBe(0);
    expect(bench.env.stdout.text).toBe('b\n');
    await untilEnded(id);
  });

  it('say so when more tasks run than are followed at a time, and miss nothing', async () => {
    const id = await submit('hang 1\n', 'hang 2\n');
    await eventually(async () => expect((await bench.client.workflow(id)).counts.running).toBe(2));
    const { env, client } = bench;
    const logs = { env, client, streams: ['stdout'] as const, tail: undefined, pattern: undefined };
    const following = new LogFollower(logs, 1).follow({ tasks: [], workflows: [id], filters: [`workflow=${id}`] });
    await eventually(() =>
      expect(env.stderr.text).toBe(
        'drover: 1 at a time are followed: the output of 1 more task comes when others end\n',
      ),
    );
    await client.cancel(id);
    await following;
    expect(env.stdout.lines).toEqual([`${id}.1 | out of hang 1`, `${id}.2 | out of hang 2`]);
  });

  it('of one that never begins end when its workflow is halted', async () => {
    const { id } = await bench.client.submitWhole(plainSpec, { tasks: [{ command: 'x', held: true }], edges: [] });
    const following = bench.drover('logs', `${id}.1`, '-f');
    await bench.client.halt(id, 'kill');
    expect(await following).toBe(0);
    await bench.client.cancel(id);
  });

  it('say what is missing, with exit code 1', async () => {
    const id = await submit('hang 1');
    const held = await bench.client.submitWhole(plainSpec, { tasks: [{ command: 'x', held: true }], edges: [] });
    expect(await bench.drover('logs', `${held.id}.1`, 'w1.4')).toBe(1);
    expect(bench.env.stderr.text).toContain(`${held.id}.1 has not run yet`);
    expect(bench.env.stdout.lines).toEqual(['w1.4 | out of last']);
    await bench.client.cancel(id);
    await bench.client.cancel(held.id);
  });

  it.each([
    [[], 'no task is named'],
    [['w1.1', '--failed'], 'name none beside them'],
    [['w1', '--attempt', '1'], '--attempt is for a single task'],
    [['w1', '--grep', '('], 'Invalid regular expression'],
    [['w1', '--grep', 'a', '--tail', '1'], 'leave --tail out'],
    [['w1', '-i'], '-i and -C are for what --grep finds'],
    [['w1.1', '-C', '1'], '-i and -C are for what --grep finds'],
    [['w1', '-f', '--grep', 'a', '-C', '1'], 'leave -C out'],
    [['w99'], 'there is no workflow w99'],
    [['w99', '-f'], 'there is no workflow w99'],
    [['w1', 'w99', '--grep', 'a'], 'there is no workflow w99'],
    [['w1.99', '--grep', 'a'], 'there is no task w1.99'],
    [['w1.1#9', '--grep', 'a'], 'w1.1 has no attempt 9'],
  ])('are refused: %j', async (words, message) => {
    expect(await bench.drover('logs', ...words)).toBe(2);
    expect(bench.env.stderr.text).toContain(message);
  });
});

describe('logs --grep', () => {
  it('prints lines that match, with task and number', async () => {
    expect(await bench.drover('logs', 'w1', '--grep', 'ERROR \\d', '-i')).toBe(0);
    expect(bench.env.stdout.lines).toEqual(['w1.1:2 | error 1', 'w1.1:5 | error 2', 'w1.3:2 | \u001b[2Jerror 3']);
  });

  it('prints what stands around them', async () => {
    expect(await bench.drover('logs', 'w1.1', '--grep', 'error', '-C', '1')).toBe(0);
    expect(bench.env.stdout.lines).toEqual(['out of a', 'error 1', 'b', 'c', 'error 2']);
    renew();
    expect(await bench.drover('logs', 'w1', '--grep', 'a$|error 2', '-C', '1')).toBe(0);
    expect(bench.env.stdout.lines).toEqual([
      ...['w1.1:1 | out of a', 'w1.1-2 | error 1', '--', 'w1.1-4 | c', 'w1.1:5 | error 2'],
    ]);
  });

  it('shows on a terminal where they match', async () => {
    bench.env.stdout.isTerminal = true;
    expect(await bench.drover('logs', 'w1.1', '--grep', 'r+')).toBe(0);
    expect(bench.env.stdout.lines[0]).toBe('e\u001b[31mrr\u001b[0mo\u001b[31mr\u001b[0m 1');
  });

  it('looks at the attempt that is named', async () => {
    const { id } = await bench.client.submitWhole(
      { ...plainSpec, maxAttempts: 2 },
      { tasks: [{ command: 'fail a' }, { command: 'fail b' }], edges: [] },
    );
    await untilEnded(id);
    // Only the first attempts have failed, and said so.
    expect(await bench.drover('logs', `${id}.1#1`, `${id}.2`, '--grep', 'oh', '--stderr')).toBe(0);
    expect(bench.env.stdout.lines).toEqual([`${id}.1:1 ! oh`]);
    expect(await bench.drover('logs', `${id}.1`, '--attempt', '2', '--grep', 'oh', '--stderr')).toBe(1);
  });

  it('exits 1 when nothing does', async () => {
    expect(await bench.drover('logs', 'w1', '--grep', 'nothing of the kind')).toBe(1);
    expect(bench.env.stdout.text).toBe('');
  });

  it('looks at stderr as well', async () => {
    expect(await bench.drover('logs', 'w1', '--grep', 'oh|last', '--both')).toBe(0);
    expect(bench.env.stdout.lines).toEqual(['w1.2:1 ! oh', 'w1.4:1 | out of last']);
  });

  it('refuses an expression that would take for ever', async () => {
    const id = await submit(`${'a'.repeat(50)}b`);
    await untilEnded(id);
    expect(await bench.drover('logs', id, '--grep', '^out of (a+)+$')).toBe(2);
    expect(bench.env.stderr.text).toContain('takes too long');
  });

  it('refuses such an expression also for what is followed', async () => {
    const id = await submit(`${'a'.repeat(50)}b\n`, `${'a'.repeat(50)}b\n`);
    expect(await bench.drover('logs', id, '-f', '--grep', '^out of (a+)+$')).toBe(2);
    expect(bench.env.stderr.text.match(/takes too long/g)).toHaveLength(1);
    await untilEnded(id);
  });

  it('filters what is followed', async () => {
    expect(await bench.drover('logs', 'w1', '-f', '--grep', 'error 1')).toBe(0);
    expect(bench.env.stdout.lines).toEqual(['w1.1 | error 1']);
  });
});

describe('lines', () => {
  const cut = (...pieces: Uint8Array[]): string[] => {
    const cutter = new LineCutter();
    return [...pieces.flatMap((piece) => [...cutter.take(piece)]), ...cutter.end()].map((line) =>
      Buffer.from(line).toString('latin1'),
    );
  };

  it('are put together from pieces, whatever their bytes', () => {
    expect(cut(Buffer.from('a\nb'), Buffer.from('c\n\n'), Buffer.of(0xff, 0))).toEqual(['a', 'bc', '', '\u00ff\u0000']);
  });

  it('that are too long come in parts', () => {
    const long = Buffer.alloc(2 * lineBytesMax + 1, 'x');
    expect(cut(long, Buffer.from('\ny')).map((line) => line.length)).toEqual([lineBytesMax, lineBytesMax, 1, 1]);
  });

  it('that are too long are not cut within a character', () => {
    const text = `${'x'.repeat(lineBytesMax - 2)}€€`;
    const cutter = new LineCutter();
    const parts = [...cutter.take(Buffer.from(text)), ...cutter.end()].map((part) => Buffer.from(part).toString());
    expect(parts).toEqual(['x'.repeat(lineBytesMax - 2), '€€']);
  });

  it.each([
    ['a\nb\nc\n', 2, 2],
    ['a\nb\nc', 1, 4],
    ['a\nb', 2, undefined],
    ['\n\n\n', 1, 2],
    ['', 1, undefined],
    ['a\nb', 0, 3],
  ])('of %j the last %d begin at %s', (text, lines, begin) => {
    expect(beginOfLast(Buffer.from(text), lines)).toBe(begin);
  });
});
