/** `drover import`, `drover export` and `drover graph`, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { wfformatBytesMax } from '../model/limits.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
});

afterEach(() => controller.close());

const instance = {
  ...{ name: 'small', schemaVersion: '1.5' },
  workflow: {
    specification: {
      tasks: [
        { name: 'split', id: 'split', parents: [], children: ['align_1', 'align_2'] },
        { name: 'align_1', id: 'align_1', parents: ['split'], children: [] },
        { name: 'align_2', id: 'align_2', parents: ['split'], children: [] },
      ],
    },
    execution: {
      ...{ makespanInSeconds: 90, executedAt: 'then' },
      tasks: [
        { id: 'split', runtimeInSeconds: 10 },
        { id: 'align_1', runtimeInSeconds: 60 },
        { id: 'align_2', runtimeInSeconds: 20 },
      ],
    },
  },
};

const given = (content: unknown): void => void bench.env.files.set('/me/a.json', JSON.stringify(content));

describe('drover import wfformat', () => {
  it('tells what there is, and runs and writes nothing unless told to', async () => {
    given(instance);
    expect(await bench.drover('import', 'wfformat', 'a.json', '--scale', '0.5')).toBe(0);
    expect(bench.env.stdout.text).toBe(
      [
        'small: 3 tasks, 2 edges, 45 s of work; it took 1m 30s where it was recorded',
        '',
        'TEMPLATE  TASKS   WORK  LONGEST',
        'split         1  5.0 s    5.0 s',
        'align         2   40 s     30 s',
        '',
      ].join('\n'),
    );
    expect(bench.opened).toEqual([]);
    expect([...bench.env.files.keys()]).toEqual(['/me/a.json']);
    expect(await bench.drover('import', 'wfformat', 'a.json', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ name: 'small', total: 3, edges: 2, joins: 0, totalMs: 90_000 });
  });

  it('runs it, submits it, or writes it', async () => {
    given(instance);
    expect(await bench.drover('import', 'wfformat', 'a.json', '--run', '--json', '--name', 'mine')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ id: 'w1', name: 'mine', state: 'done', done: 3 });
    bench.env.stdin = JSON.stringify(instance);
    expect(await bench.drover('import', 'wfformat', '-', '--submit')).toBe(0);
    expect(bench.env.stdout.lines.at(-1)).toBe('w2');
    expect(await bench.client.task('w2.2')).toMatchObject({ name: 'align_1', template: 'align', command: 'sleep 60' });
    expect(await bench.drover('import', 'wfformat', 'a.json', '--output', 'b.ndjson')).toBe(0);
    const lines = bench.env.files.get('/me/b.ndjson')?.trimEnd().split('\n') ?? [];
    expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(['name', 'name', 'parents', 'name', 'name']);
  });

  it('says what is wrong with a file', async () => {
    const refused = async (...args: string[]) => {
      bench.env.stdout.write('');
      expect(await bench.drover('import', 'wfformat', ...args, '--json')).toBe(2);
      return bench.lastJson().error;
    };
    expect(await refused('none.json')).toMatchObject({ code: 'bad-input', message: 'no such file: none.json' });
    expect(await refused('/me')).toMatchObject({ message: '/me is a directory' });
    bench.env.files.set('/me/a.json', '{"name": "x",\n  oops}');
    expect(await refused('a.json')).toMatchObject({ details: { line: 2, column: 3 } });
    given({ ...instance, schemaVersion: '1.3' });
    expect(await refused('a.json')).toMatchObject({ message: expect.stringContaining('1.3') });
    const loop = [
      { name: 'a', id: 'a', parents: ['b'], children: ['b'] },
      { name: 'b', id: 'b', parents: ['a'], children: ['a'] },
    ];
    given({ ...instance, workflow: { specification: { tasks: loop } } });
    expect(await refused('a.json')).toMatchObject({ code: 'dependency-cycle', details: { cycle: ['a', 'b', 'a'] } });
    expect(await refused('a.json', '--scale', '-1')).toMatchObject({ code: 'bad-input' });
    expect(await refused('a.json', '--run', '--submit')).toMatchObject({ code: 'bad-input' });
    expect(controller.requests).toEqual([]);
  });

  it('reads no more than its limit', async () => {
    const piece = Buffer.alloc(1024 * 1024, ' ');
    bench.env.readStdin = async function* endless() {
      for (;;) yield piece;
    };
    expect(await bench.drover('import', 'wfformat', '-', '--json')).toBe(2);
    expect(bench.lastJson()).toMatchObject({ error: { code: 'too-large' } });
    expect(wfformatBytesMax).toBe(128 * 1024 * 1024);
  });

  it('knows no other format', async () => {
    expect(await bench.drover('import', 'cwl', 'a.json')).toBe(2);
    expect(bench.env.stderr.text).toContain('wfformat');
  });
});

describe('drover export wfformat', () => {
  it('writes what ran, barriers left out, to stdout or to a file', async () => {
    bench.env.files.set('/me/tasks', 'one\ntwo\n#DROVER BARRIER\nthree\n');
    await bench.drover('run', 'tasks', '-q');
    bench.renew();
    expect(await bench.drover('export', 'wfformat', 'w1')).toBe(0);
    const { workflow, schemaVersion } = JSON.parse(bench.env.stdout.text);
    expect(schemaVersion).toBe('1.5');
    expect(workflow.specification.tasks).toEqual([
      { name: 'w1.1', id: 'w1.1', children: ['w1.4'], parents: [] },
      { name: 'w1.2', id: 'w1.2', children: ['w1.4'], parents: [] },
      { name: 'w1.4', id: 'w1.4', children: [], parents: expect.arrayContaining(['w1.1', 'w1.2']) },
    ]);
    expect(workflow.execution.machines).toEqual([{ nodeName: 'here', cpu: { coreCount: 4 } }]);
    expect(await bench.drover('export', 'wfformat', 'w1', '--output', 'w1.json', '--json')).toBe(0);
    expect(bench.lastJson()).toEqual({ id: 'w1', output: 'w1.json', tasks: 3, ran: 3 });
    expect(bench.env.files.has('/me/w1.json')).toBe(true);
  });
});

describe('drover graph', () => {
  it('draws tasks and barriers in the format that the file asks for', async () => {
    bench.env.files.set('/me/tasks', 'one\ntwo\n#DROVER BARRIER\nthree\n');
    await bench.drover('run', 'tasks', '-q');
    bench.renew();
    expect(await bench.drover('graph', 'w1')).toBe(0);
    expect(bench.env.stdout.text).toContain('n1["w1.1 one"]:::done');
    expect(bench.env.stdout.text).toContain('n3(( )):::done');
    expect(bench.env.stdout.text).toContain('n3 --> n4');
    expect(await bench.drover('graph', 'w1', '--output', 'w1.svg')).toBe(0);
    expect(bench.env.files.get('/me/w1.svg')).toMatch(/^<svg /);
    expect(bench.env.stderr.lines.at(-1)).toBe('drover: w1.svg has 4 nodes, 3 edges');
    expect(await bench.drover('graph', 'w1', '--json')).toBe(0);
    expect(bench.lastJson()).toMatchObject({ title: 'w1: done', nodes: { length: 4 }, edges: { length: 3 } });
    expect(await bench.drover('graph', 'w1', '--all', '--by-template')).toBe(2);
  });
});
