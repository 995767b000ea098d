/** Compiling definitions: what they come to, and what is refused before anything runs. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DroverError } from '../model/errors.ts';
import type { TaskBatch } from '../protocol/spec.ts';
import { type CompileOptions, compile, type Flow, identified } from './compile.ts';
import type { Issue } from './issues.ts';
import { parseText } from './text.ts';

const surroundings = { cwd: '/me', shell: '/bin/sh', env: { PATH: '/bin' } };
const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const compiled = (document: unknown, options: Partial<CompileOptions> = {}): Flow =>
  compile(document, { surroundings, digest, ...options });

function issuesOf(act: () => unknown): readonly Issue[] {
  try {
    act();
  } catch (error) {
    if (!(error instanceof DroverError) || error.code !== 'bad-definition') throw error;
    return error.details?.issues as readonly Issue[];
  }
  return [];
}

const messagesOf = (document: unknown, options: Partial<CompileOptions> = {}): string[] =>
  issuesOf(() => compiled(document, options)).map(({ path, message }) => `${path}: ${message}`);

const whole = (flow: Flow): TaskBatch => {
  const batches = [...flow.batches()];
  return { tasks: batches.flatMap(({ tasks }) => tasks), edges: batches.flatMap(({ edges }) => edges) };
};

const edgesOf = (flow: Flow): string[] =>
  whole(flow).edges.map(({ parents, children, after }) => `${parents.join('-')} > ${children.join('-')} ${after}`);

const commandsOf = (flow: Flow): (string | undefined)[] => whole(flow).tasks.map(({ command }) => command);

const align = { command: 'bwa {ref} {sample}' };

describe('a definition', () => {
  it('gives each task the command of its template with its values', () => {
    const flow = compiled({
      name: 'n',
      templates: { align },
      tasks: [{ name: 'a', template: 'align', args: { ref: 'hg38', sample: 7 } }],
    });
    expect(whole(flow).tasks).toEqual([
      { command: 'bwa hg38 7', name: 'a', template: 'align', args: { ref: 'hg38', sample: '7' } },
    ]);
    expect(flow.spec).toMatchObject({ name: 'n', cwd: '/me', maxAttempts: 1, failFast: false, open: false, args: {} });
  });

  it('inserts a value as one word wherever it stands', () => {
    const flow = compiled({
      name: 'n',
      tasks: [{ name: 'a', command: `echo {x} "{x}" '{x}' \${x} {{x}}`, args: { x: "it's; $y" } }],
    });
    expect(commandsOf(flow)).toEqual([`echo 'it'\\''s; $y' ""'it'\\''s; $y'"" '''it'\\''s; $y''' \${x} {x}`]);
  });

  it('uses arguments of the workflow, which a task may set for itself', () => {
    const document = {
      name: 'n',
      args: { ref: 'hg19', day: null },
      tasks: [
        { name: 'a', command: 'x {ref} {day}' },
        { name: 'b', command: 'x {ref} {day}', args: { ref: 'own' } },
      ],
    };
    const flow = compiled(document, { args: { day: 'mon' } });
    expect(commandsOf(flow)).toEqual(['x hg19 mon', 'x own mon']);
    expect(flow.spec.args).toEqual({ ref: 'hg19', day: 'mon' });
    expect(messagesOf(document, { args: { dya: 'mon' } })).toEqual([
      'args.day: has no value: give it one with --arg day=VALUE',
      "args: there is no argument 'dya' to set; did you mean 'day'?",
    ]);
  });

  it('makes an array of all combinations, the last varying fastest, named by their values', () => {
    const args = { sample: ['a', 'b c'], ref: ['x', 'y'] };
    const flow = compiled({ name: 'n', templates: { align }, tasks: [{ template: 'align', args }] });
    expect(commandsOf(flow)).toEqual(['bwa x a', 'bwa y a', "bwa x 'b c'", "bwa y 'b c'"]);
    expect(whole(flow).tasks.map(({ name }) => name)).toEqual([
      'align[a,x]',
      'align[a,y]',
      'align["b c",x]',
      'align["b c",y]',
    ]);
  });

  it('takes ranges of numbers, and rows of values', () => {
    const flow = compiled({
      name: 'n',
      tasks: [
        { name: 'a', command: 'x {i}', args: { i: { from: 1, to: 6, step: 2 } } },
        {
          name: 'b',
          command: 'y {s} {t}',
          args: [
            { s: 1, t: 2 },
            { s: 3, t: 4 },
          ],
        },
      ],
    });
    expect(commandsOf(flow)).toEqual(['x 1', 'x 3', 'x 5', 'y 1 2', 'y 3 4']);
  });

  it('names a task by its place where its values are too long for a name', () => {
    const flow = compiled({ name: 'n', tasks: [{ name: 'a', command: 'x {i}', args: { i: ['1', 'y'.repeat(300)] } }] });
    expect(whole(flow).tasks.map(({ name }) => name)).toEqual(['a[1]', 'a[#2]']);
  });

  it('reads sizes and times as people write them', () => {
    const flow = compiled({
      name: 'n',
      defaults: { resources: { memory: '2GB', walltime: '1h' }, timeout: 90 },
      tasks: [
        { name: 'a', command: 'x', resources: { cpus: 0.5, scales: { memory: ['4GB', '8GB'], walltime: 2 } } },
        { name: 'b', command: 'x', until: '2030-01-31T18:00:00Z', held: true },
      ],
    });
    expect(flow.spec).toMatchObject({ resources: { memoryBytes: 2e9, runtimeMs: 3_600_000 }, timeoutMs: 90_000 });
    expect(whole(flow).tasks).toMatchObject([
      { resources: { cpus: 0.5, scales: { memory: [4e9, 8e9], runtime: 2 } } },
      { held: true, until: Date.UTC(2030, 0, 31, 18) },
    ]);
  });
});

describe('precedence', () => {
  it('is task, template, workflow, tool: field by field', () => {
    const flow = compiled({
      name: 'n',
      tool: { name: 'pipe', retries: 4, resources: { cpus: 8, memory: '1GB', queue: 'slow', scales: { walltime: 3 } } },
      defaults: { retries: 3, resources: { memory: '2GB', scales: { memory: 2 } }, priority: 1, tags: { by: 'me' } },
      tags: { all: 'yes' },
      templates: { t: { command: 'x', retries: 2, resources: { gpus: 1, memory: '3GB' }, tags: { by: 't' } } },
      tasks: [
        { name: 'a', template: 't', retries: 1, resources: { gpus: 2, scales: { memory: 5 } }, priority: 9 },
        { name: 'b', template: 't' },
        { name: 'c', command: 'y' },
      ],
    });
    expect(flow.spec).toMatchObject({
      maxAttempts: 4,
      attributes: { tool: 'pipe' },
      resources: { cpus: 8, memoryBytes: 2e9, queue: 'slow', scales: { memory: 2, runtime: 3 } },
    });
    expect(whole(flow).tasks).toEqual([
      {
        ...{ command: 'x', name: 'a', template: 't', maxAttempts: 2, priority: 9, tags: { all: 'yes', by: 't' } },
        resources: { gpus: 2, memoryBytes: 3e9, scales: { memory: 5, runtime: 3 } },
      },
      {
        ...{ command: 'x', name: 'b', template: 't', maxAttempts: 3, priority: 1, tags: { all: 'yes', by: 't' } },
        resources: { gpus: 1, memoryBytes: 3e9 },
      },
      { command: 'y', name: 'c', priority: 1, tags: { all: 'yes', by: 'me' } },
    ]);
  });
});

describe('dependencies', () => {
  const two = { i: [1, 2] };

  it('put parents before children, whatever the order of the document', () => {
    const flow = compiled({
      name: 'n',
      tasks: [
        {
          name: 'c',
          command: 'c',
          after: [
            { task: 'b', on: 'any' },
            { task: 'a', on: 'failure' },
          ],
        },
        { name: 'b', command: 'b', after: 'a' },
        { name: 'a', command: 'a' },
      ],
    });
    expect(commandsOf(flow)).toEqual(['a', 'b', 'c']);
    expect(edgesOf(flow)).toEqual(['1-1 > 2-2 success', '2-2 > 3-3 any', '1-1 > 3-3 failure']);
  });

  it('on an array are on all of it, by a range or, from many to many, by one join', () => {
    const flow = compiled({
      name: 'n',
      tasks: [
        { name: 'a', command: 'a {i}', args: two },
        { name: 'b', command: 'b {i}', args: two, after: 'a' },
        { name: 'c', command: 'c {i}', args: two, after: 'a' },
        { name: 'd', command: 'd', after: ['b', 'c'] },
      ],
    });
    expect(commandsOf(flow)).toEqual(['a 1', 'a 2', undefined, 'b 1', 'b 2', 'c 1', 'c 2', 'd']);
    expect(edgesOf(flow)).toEqual([
      '1-2 > 3-3 success',
      '3-3 > 4-5 success',
      '3-3 > 6-7 success',
      '4-5 > 8-8 success',
      '6-7 > 8-8 success',
    ]);
  });

  it('by each join the tasks of the same values', () => {
    const flow = compiled({
      name: 'n',
      tasks: [
        { name: 'a', command: 'a {s}', args: { s: ['x', 'y'] } },
        { name: 'b', command: 'b {s} {t}', args: { s: ['y', 'x'], t: [1, 2] }, after: { each: 'a' } },
        { name: 'c', command: 'c {s}', args: { s: ['x', 'y'] }, after: [{ each: 'b', on: 'any' }] },
      ],
    });
    expect(commandsOf(flow)).toEqual(['a x', 'a y', 'b y 1', 'b y 2', 'b x 1', 'b x 2', 'c x', 'c y']);
    expect(edgesOf(flow)).toEqual([
      ...['2-2 > 3-3 success', '2-2 > 4-4 success', '1-1 > 5-5 success', '1-1 > 6-6 success'],
      ...['5-6 > 7-7 any', '3-4 > 8-8 any'],
    ]);
  });

  it('by each stay linear where both sides have several tasks of the same values', () => {
    const flow = compiled({
      name: 'n',
      tasks: [
        { name: 'a', command: 'a {s} {t}', args: { s: [1, 2], t: { from: 1, to: 50 } } },
        { name: 'b', command: 'b {s} {u}', args: { s: [1, 2], u: { from: 1, to: 50 } }, after: { each: 'a' } },
      ],
    });
    expect(flow).toMatchObject({ size: 202, commands: 200 });
    expect(edgesOf(flow).slice(0, 3)).toEqual([
      '1-50 > 101-101 success',
      '51-100 > 102-102 success',
      '101-101 > 103-103 success',
    ]);
    expect(edgesOf(flow)).toHaveLength(102);
  });

  it('by each are refused where a task would find no partner', () => {
    const tasks = [
      { name: 'a', command: 'a {s}', args: { s: ['x'] } },
      { name: 'b', command: 'b {s} {t}', args: { s: ['x', 'y'], t: [1, 2] }, after: { each: 'a' } },
    ];
    expect(messagesOf({ name: 'n', tasks })).toEqual(["tasks[1].after: 'a' has no task with s = y"]);
  });

  it('on tasks of other workflows are left to the controller', () => {
    const flow = compiled({
      name: 'n',
      tasks: [{ name: 'a', command: 'a {i}', args: two, after: { workflow: 'w3', task: 5, on: 'any' } }],
    });
    expect([...flow.batches()][0]?.outside).toEqual([{ workflow: 'w3', task: 5, children: [1, 2], after: 'any' }]);
  });

  it('of tasks that are added to a workflow may be on those it has', () => {
    const document = {
      name: 'n',
      tasks: [
        { name: 'a', command: 'a', after: 'old' },
        { name: 'b', command: 'b', after: 'a' },
      ],
    };
    const flow = compiled(document, { addedTo: { workflow: 'w3', size: 10 } });
    expect([...flow.batches()]).toEqual([
      {
        tasks: [
          { command: 'a', name: 'a' },
          { command: 'b', name: 'b' },
        ],
        edges: [{ parents: [11, 11], children: [12, 12], after: 'success' }],
        outside: [{ workflow: 'w3', task: 'old', children: [11, 11], after: 'success' }],
      },
    ]);
  });

  it('are cut with their batches, and all of them are there', () => {
    const flow = compiled({
      name: 'n',
      tasks: [
        { name: 'a', command: 'a {i}', args: { i: { from: 1, to: 9_000 } } },
        { name: 'b', command: 'b {i}', args: { i: { from: 1, to: 9_000 } }, after: { each: 'a' } },
        { name: 'c', command: 'c {i}', args: { i: { from: 1, to: 9_000 } }, after: 'b' },
      ],
    });
    let size = 0;
    const parents = new Map<number, number>();
    for (const { tasks, edges } of flow.batches()) {
      expect(tasks.length).toBeLessThanOrEqual(4_000);
      expect(edges.length).toBeLessThanOrEqual(16_000);
      for (const edge of edges) {
        expect(edge.children[0]).toBeGreaterThan(size);
        expect(edge.children[1]).toBeLessThanOrEqual(size + tasks.length);
        expect(edge.parents[1]).toBeLessThan(edge.children[0]);
        for (let child = edge.children[0]; child <= edge.children[1]; child++)
          parents.set(child, (parents.get(child) ?? 0) + edge.parents[1] - edge.parents[0] + 1);
      }
      size += tasks.length;
    }
    expect(size).toBe(27_001);
    expect(parents.get(18_001)).toBe(9_000);
    expect([...parents.values()].filter((count) => count === 1)).toHaveLength(18_000);
  });
});

describe('a definition is refused', () => {
  it('for a cycle, by its names', () => {
    const document = {
      name: 'n',
      tasks: [
        { name: 'a', command: 'x', after: 'c' },
        { name: 'b', command: 'x', after: 'a' },
        { name: 'c', command: 'x', after: 'b' },
        { name: 'd', command: 'x', after: 'd' },
      ],
    };
    expect(messagesOf(document)).toEqual([
      'tasks[1].after: a cycle: a → b → c → a; none of them could ever start',
      'tasks[3].after: a cycle: d → d; none of them could ever start',
    ]);
  });

  it('for names that are missing, twice there, or of nothing, with the nearest', () => {
    const document = {
      name: 'n',
      templates: { align },
      tasks: [
        { name: 'count', command: 'x' },
        { name: 'count', command: 'x' },
        { command: 'x' },
        { name: 'a', template: 'algin', after: ['cuont'] },
        { name: 'b', command: 'x', template: 'align', args: { ref: 1, sample: 1 } },
        { name: 'c[1]', command: 'x', after: { each: 'count' } },
        { name: 'd', command: 'x', after: {} },
      ],
    };
    expect(messagesOf(document)).toEqual([
      "tasks[1].name: there is a task 'count' already, tasks[0]; give one of them another name",
      "tasks[2]: lacks 'name'",
      "tasks[3].template: there is no template 'algin'; did you mean 'align'?",
      'tasks[4].command: has a template, too: choose one',
      "tasks[5].name: 'c[1]': a name has no brackets and no control characters",
      "tasks[3].after[0]: there is no task 'cuont'; did you mean 'count'?",
      "tasks[5].after: 'count' has no list of values for an argument that this task has, too; without 'each' it waits for all",
      "tasks[6].after: names either a 'task', of this workflow or of another, or an array by 'each'",
    ]);
  });

  it('for placeholders without a value, and for values without a placeholder', () => {
    const document = {
      name: 'n',
      templates: { align: { ...align, opArgs: ['threads', 'ref'], taskArgs: ['ref'], args: { refs: 1 } } },
      tasks: [
        { name: 'a', template: 'align', args: { ref: 'x', smaple: 1 } },
        { name: 'b', command: 'awk {print}' },
        { name: 'c', args: { x: 1 } },
        { name: 'd', command: 'x {i}', args: { i: [1, 2, 1] } },
        { name: 'e', command: 'x {i}', args: { i: [] } },
        { name: 'f', command: 'x {i}', args: [{ i: 1 }, { j: 1 }] },
        { name: 'g', command: 'x `{i}`', args: { i: 1 } },
      ],
    };
    expect(messagesOf(document)).toEqual([
      'templates.align.opArgs[0]: the command has no placeholder {threads}',
      "templates.align.opArgs[1]: 'ref' is in taskArgs already",
      "templates.align.args.refs: the command has no placeholder {refs}; did you mean 'ref'?",
      "tasks[0].args.smaple: the command has no placeholder {smaple}; did you mean 'sample'?",
      "tasks[0].args: the placeholder {sample} has no value; did you mean 'smaple'?",
      'tasks[1]: the placeholder {print} has no value; to mean the text itself, write {{print}}',
      'tasks[2].args.x: a task without a command takes no arguments',
      'tasks[3].args.i[2]: the same as [0]: two tasks would be one and the same',
      'tasks[4].args.i: has no value: there would be no task',
      'tasks[5].args[1]: has other arguments than the first one: i',
      "tasks[6].command: the placeholder {i} can't stand in backquotes; write $(…) instead of `…`",
      'tasks[6].args.i: the command has no placeholder {i}',
    ]);
  });

  it('for units that are none, unknown fields and wrong types: all at once, beside what else is wrong', () => {
    const document = {
      name: 'n',
      retires: 2,
      defaults: { resources: { memory: '12 parsecs', walltime: 'soon', scales: { memory: 1 } } },
      tasks: [
        { name: 'a', command: 'x', until: 'tomorrow', resources: { cpus: 'two', memroy: '1GB' } },
        { name: 'b', command: 'x', after: [{ task: 'c', on: 'succes' }] },
      ],
      concurrency: { templates: { t: 1 }, tags: { heavy: 1 } },
    };
    expect(messagesOf(document)).toEqual([
      'retires: unknown field',
      "tasks[0].resources.memroy: unknown field; did you mean 'memory'?",
      'tasks[0].resources.cpus: must be number',
      'tasks[1].after[0].on: must be success, any, failure',
      "defaults.resources.memory: '12 parsecs' is no size: write it like 2GB, 512MiB, 1.5TB; a bare number means bytes",
      "defaults.resources.walltime: 'soon' is no time that can be waited for: write it like 90s, 2h30m, 1.5h, 250ms; a bare number means seconds",
      'defaults.resources.scales.memory: a factor is more than 1 and at most 1000, not 1; a list has the next values',
      "tasks[0].until: 'tomorrow' is no time: write it like 2030-01-31T18:00:00Z",
      "tasks[1].after[0]: there is no task 'c'; did you mean 'a' or 'b'?",
      "concurrency.templates.t: there is no template 't'",
      'concurrency.tags.heavy: a tag is written name=value',
    ]);
  });

  it('for more tasks than are likely meant, with the lists that make them', () => {
    const tasks = [{ name: 'a', command: 'x {i} {j}', args: { i: { from: 1, to: 1_000 }, j: { from: 1, to: 1_000 } } }];
    expect(messagesOf({ name: 'n', tasks })).toEqual([
      "tasks[0].args: 1,000,000 tasks, more than 100,000: 'a' has 1,000,000, i (1,000) × j (1,000); if so many are meant, say maxTasks: 1000000, or --max-tasks 1000000",
    ]);
    expect(messagesOf({ name: 'n', tasks }, { maxTasks: 999_999 })).toHaveLength(1);
    expect(messagesOf({ name: 'n', maxTasks: 2e6, tasks }, { tasksMax: 100_000 })).toEqual([
      expect.stringContaining("so many are compiled where they are defined: by 'drover submit', or by the SDK"),
    ]);
    const endless = { i: { from: 1, to: 1e15 } };
    const both = [
      { name: 'a', command: 'x {i}', args: endless },
      { name: 'b', command: 'x {i}', args: endless, after: { each: 'a' } },
    ];
    expect(messagesOf({ name: 'n', tasks: both })).toHaveLength(1);
  });

  it('for what is no definition at all', () => {
    expect(messagesOf(undefined)).toHaveLength(1);
    expect(messagesOf([])).toHaveLength(1);
    expect(messagesOf({})).toEqual([": lacks 'name', 'tasks'"]);
    expect(messagesOf({ name: 'n', tasks: [3] })).toHaveLength(1);
  });

  it('with so many issues at most', () => {
    const tasks = Array.from({ length: 80 }, (_, at) => ({ name: `t${at}`, command: 'x', after: 'none' }));
    expect(messagesOf({ name: 'n', tasks })).toHaveLength(50);
    expect(() => compiled({ name: 'n', tasks })).toThrow(/and 79 more/);
  });
});

describe('the digest of a graph', () => {
  const base = {
    name: 'n',
    templates: { t: { command: 'x {s} -t {threads}', opArgs: ['threads'], args: { threads: 1 } } },
    tasks: [
      { name: 'a', template: 't', args: { s: ['1', '2'] } },
      { name: 'b', command: 'y', after: 'a' },
    ],
  };
  const graph = (change: object): string | undefined => identified(compiled({ ...base, ...change })).spec.graph;
  const same = graph({});

  it('is the same whatever the order, the resources and the arguments of operation are', () => {
    expect(same).toMatch(/^[0-9a-f]{64}$/);
    expect(graph({ tasks: [base.tasks[1], { name: 'a', template: 't', args: { s: ['2', '1'] } }] })).toBe(same);
    expect(graph({ defaults: { retries: 3, resources: { memory: '1GB' } } })).toBe(same);
    expect(graph({ templates: { t: { ...base.templates.t, args: { threads: 8 } } } })).toBe(same);
    expect(graph({ name: 'other' })).toBe(same);
  });

  it('differs with values, commands, names and dependencies', () => {
    const others = [
      { tasks: [{ name: 'a', template: 't', args: { s: ['1', '3'] } }, base.tasks[1]] },
      { templates: { t: { ...base.templates.t, command: 'z {s} -t {threads}' } } },
      { tasks: [base.tasks[0], { name: 'b', command: 'y', after: { task: 'a', on: 'any' } }] },
      { tasks: [base.tasks[0], { name: 'c', command: 'y', after: 'a' }] },
      { tasks: [base.tasks[0]] },
    ].map(graph);
    expect(new Set([same, ...others]).size).toBe(6);
  });

  it('is not there for a workflow that grows', () => {
    expect(graph({ open: true })).toBeUndefined();
  });
});

describe('text', () => {
  const located = (text: string): string[] =>
    issuesOf(() => {
      const { document, locate } = parseText(text, 'flow.yaml');
      compiled(document, { locate, name: 'flow.yaml' });
    }).map(({ path, line, column }) => `${line}:${column} ${path}`);

  it('has a line and a column for what is wrong', () => {
    const text = [
      'name: n',
      'tasks:',
      '  - name: a',
      '    command: x',
      '    resources:',
      '      memory: 12 parsecs',
      '    after: [b]',
      '    oops: 1',
      '  - command: y',
    ].join('\n');
    expect(located(text)).toEqual([
      '8:11 tasks[0].oops',
      '6:15 tasks[0].resources.memory',
      '9:5 tasks[1]',
      '7:13 tasks[0].after[0]',
    ]);
  });

  it('that is no YAML is refused where it goes wrong', () => {
    expect(located('name: n\ntasks: [\n  - a: {')).not.toEqual([]);
    expect(() => parseText('name: a\nname: b\n', 'flow.yaml')).toThrow('flow.yaml:2:1: Map keys must be unique');
  });

  it('keeps a value as it is written, or asks for quotes', () => {
    const text = 'name: n\ntasks:\n  - name: a\n    command: x {v}\n    args: {v: [1.10, 0x10, 010, 2]}\n';
    expect(() => parseText(text, 'f')).toThrow("1.10 would be taken for 1.1: write it in quotes, '1.10', and 2 more");
  });

  it('may be JSON', () => {
    const { document } = parseText(JSON.stringify({ name: 'n', tasks: [] }, null, 2), 'flow.json');
    expect(document).toEqual({ name: 'n', tasks: [] });
  });
});
