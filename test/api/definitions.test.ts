/** Definitions at a controller: the same by file, program and request; known again; all or nothing. */
import { hash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compile, identified } from '../../src/definition/compile.ts';
import type { Definition } from '../../src/definition/schema.ts';
import { parseText } from '../../src/definition/text.ts';
import { DroverError } from '../../src/model/errors.ts';
import { workflowId } from '../../src/model/ids.ts';
import { Client } from '../../src/sdk/client.ts';
import { submitFlow } from '../../src/sdk/flow-submission.ts';
import { any, command, join, template } from '../../src/sdk/task-nodes.ts';
import { Workflow, type WorkflowOptions } from '../../src/sdk/workflow.ts';
import { eventually } from '../controller/eventually.ts';
import { type InProcessController, newRemains, startController } from '../controller/in-process.ts';

const digest = (text: string): string => hash('sha256', text);
const surroundings = { cwd: '/data', shell: '/bin/sh', env: { PATH: '/bin' } };

let controller: InProcessController;
let client: Client;
let remains = newRemains();

beforeEach(async () => {
  remains = newRemains();
  controller = await startController({ remains });
  client = new Client(controller.access);
});

afterEach(() => controller.close());

const setting = { digest, surroundings: () => surroundings, connect: () => client };
const workflow = (name: string, options: WorkflowOptions = {}): Workflow => new Workflow(setting, name, options);

const yaml = `
name: variants
args: {ref: hg38}
tool: {name: pipeline, retries: 1}
defaults:
  resources: {memory: 2GB, scales: {walltime: 2}}
concurrency: {templates: {align: 10}}
templates:
  align:
    command: bwa {ref} {sample} -t {threads}
    opArgs: [threads]
    args: {threads: 4}
    resources: {memory: 4GB, scales: {memory: [8000000000, 16000000000]}}
tasks:
  - {name: align, template: align, args: {sample: [a, b, c]}}
  - {name: all, after: [align]}
  - {name: report, command: "multiqc .", after: [all, {task: align, on: any}], priority: 3}
  - {name: clean, command: rm -r tmp, after: [{task: report, on: failure}], tags: {kind: clean}}
`;

function program(): Workflow {
  const align = template('align', 'bwa {ref} {sample} -t {threads}', {
    opArgs: ['threads'],
    args: { threads: 4 },
    inherits: ['ref'],
    resources: { memory: '4GB', scales: { memory: (bytes) => (bytes < 16e9 ? 2 * bytes : bytes) } },
  });
  const aligned = align.tasks({ sample: ['a', 'b', 'c'] });
  const all = join('all', [aligned]);
  const report = command('report', 'multiqc .', { after: [all, any(aligned)], priority: 3 });
  const clean = command('clean', 'rm -r tmp', { after: [report.failed], tags: { kind: 'clean' } });
  return workflow('variants', {
    args: { ref: 'hg38' },
    tool: { name: 'pipeline', retries: 1 },
    defaults: { resources: { memory: '2GB', scales: { walltime: 2 } } },
    concurrency: { templates: { align: 10 } },
  }).add(clean);
}

const storedOf = async (id: string): Promise<string> =>
  JSON.stringify(await controller.definitionOf(workflowId(Number(id.slice(1)))));

async function codeOf(act: () => Promise<unknown>): Promise<DroverError> {
  try {
    await act();
  } catch (error) {
    if (error instanceof DroverError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('a file, a program and a request', () => {
  it('that say the same give the same workflow, byte by byte', async () => {
    const { document } = parseText(yaml, 'flow.yaml');
    const byFile = identified(compile(document, { surroundings, digest }));
    const byProgram = identified(program().compile());
    expect(JSON.stringify(byProgram.spec)).toBe(JSON.stringify(byFile.spec));
    expect(JSON.stringify([...byProgram.batches()])).toBe(JSON.stringify([...byFile.batches()]));

    const source = { definition: document, surroundings };
    const ids = [
      (await submitFlow(client, byFile, { source, replaces: true })).view.id,
      (await program().submit({ fresh: true })).view.id,
      (await client.define({ ...source, replaces: true })).id,
    ];
    expect(ids).toEqual(['w1', 'w2', 'w3']);
    const [first, ...others] = await Promise.all(ids.map(storedOf));
    expect(first).toContain('"command":"bwa hg38 b -t 4"');
    for (const other of others) expect(other).toBe(first);
  });

  it('do not compile with a value too few or too many', () => {
    const align = template('align', 'bwa {ref} {sample}', { args: { ref: 'hg38' } });
    align.task({ sample: 1 });
    // @ts-expect-error there is no value for {sample}
    align.task({ ref: 'x' });
    // @ts-expect-error there is no {smaple}
    align.task({ sample: 1, smaple: 2 });
    // @ts-expect-error one task has one value
    align.task({ sample: [1, 2] });
    expect(align.tasks({ sample: { from: 1, to: 3 } }).name).toBe('align');
  });
});

describe('a definition that is submitted again', () => {
  const definition = (tasks: Definition['tasks'], args: Definition['args'] = {}): Definition => ({
    ...{ name: 'again', args, cwd: '/', tasks },
  });
  const hanging = definition([
    { name: 'a', command: 'hang' },
    { name: 'b', command: 'x', after: 'a' },
  ]);
  const failing = definition([
    { name: 'a', command: 'fail' },
    { name: 'b', command: 'ok' },
  ]);

  it('is attached to while it lives', async () => {
    expect(await client.define({ definition: hanging })).toMatchObject({ id: 'w1', outcome: 'new' });
    expect(await client.define({ definition: hanging })).toMatchObject({ id: 'w1', outcome: 'attached' });
    const flow = compile(hanging, { surroundings, digest });
    const again = await submitFlow(client, flow, { source: { definition: hanging } });
    expect(again).toMatchObject({ view: { id: 'w1' }, outcome: 'attached' });
    await client.cancel('w1');
  });

  it('is resumed when it has failed, and said to be done when it is', async () => {
    await client.define({ definition: failing });
    await eventually(async () => expect((await client.workflow('w1')).state).toBe('failed'));
    expect(await client.define({ definition: failing })).toMatchObject({ id: 'w1', outcome: 'resumed', run: 2 });
    const fine = definition([{ name: 'a', command: 'ok' }]);
    await client.define({ definition: { ...fine, name: 'fine' } });
    await eventually(async () => expect((await client.workflow('w2')).state).toBe('done'));
    expect(await client.define({ definition: { ...fine, name: 'fine' } })).toMatchObject({ id: 'w2', outcome: 'done' });
  });

  it('is another one with other arguments, when it is to be, and when the first was cancelled', async () => {
    const withArg = (day: string) =>
      client.define({ definition: definition([{ name: 'a', command: 'hang {day}' }], { day }) });
    const fresh = () => client.define({ definition: hanging, replaces: true });
    const ids = [await withArg('mon'), await withArg('tue'), await withArg('mon'), await fresh(), await fresh()].map(
      ({ id }) => id,
    );
    expect(ids).toEqual(['w1', 'w2', 'w1', 'w3', 'w4']);
    expect(await client.define({ definition: hanging })).toMatchObject({ id: 'w4', outcome: 'attached' });
    for (const id of ['w1', 'w2', 'w3', 'w4']) await client.cancel(id);
    expect(await client.define({ definition: hanging })).toMatchObject({ id: 'w5', outcome: 'new' });
    await client.cancel('w5');
  });

  it('is known by a controller that has restarted', async () => {
    await client.define({ definition: definition([{ name: 'a', command: 'ok' }]) });
    await eventually(async () => expect((await client.workflow('w1')).state).toBe('done'));
    await controller.close();
    controller = await startController({ remains, hasWorker: false });
    client = new Client(controller.access);
    const again = await client.define({ definition: definition([{ name: 'a', command: 'ok' }]) });
    expect(again).toMatchObject({ id: 'w1', outcome: 'done' });
  });

  it('is refused with other tasks, which are told', async () => {
    const many = (last: number) => ({ i: { from: 1, to: last } });
    const before = definition([
      { name: 'a', command: 'held {i}', args: many(30), held: true },
      { name: 'b', command: 'b', after: 'a' },
      { name: 'c', command: 'c', after: 'b' },
      { name: 'gone', command: 'gone', after: 'c' },
    ]);
    const after = definition([
      { name: 'a', command: 'held {i}', args: many(60), held: true },
      { name: 'b', command: 'b2', after: 'a' },
      { name: 'c', command: 'c', after: 'a' },
    ]);
    await client.define({ definition: before });
    const added = Array.from({ length: 20 }, (_, at) => `a[${at + 31}]`);
    const difference = {
      added: { count: 30, first: added },
      removed: { count: 1, first: ['gone'] },
      changed: { count: 1, first: ['b'] },
      edges: { count: 2, first: ['+ a[*] → c', '- b → c'] },
    };
    const byRequest = await codeOf(() => client.define({ definition: after }));
    const flow = compile(after, { surroundings, digest });
    const byClient = await codeOf(() => submitFlow(client, flow, { source: { definition: after } }));
    for (const { code, details, hint } of [byRequest, byClient]) {
      expect([code, details]).toEqual(['graph-differs', { workflow: 'w1', difference }]);
      expect(hint).toContain('--update w1');
    }
    expect((await client.workflows()).workflows).toHaveLength(1);
    await client.cancel('w1');
  });

  it('by two at the same time is one, and the other goes on with it', async () => {
    const large = definition([{ name: 'a', command: 'x {i}', args: { i: { from: 1, to: 5_000 } }, held: true }]);
    const flow = compile(large, { surroundings, digest });
    const submitting = () => submitFlow(client, flow, { source: { definition: large } });
    const both = await Promise.all([submitting(), submitting()]);
    expect(both.map(({ outcome }) => outcome).sort()).toEqual(['attached', 'new']);
    expect(new Set(both.map(({ view }) => view.id)).size).toBe(1);
    const { workflows } = await client.workflows();
    expect(workflows.map(({ state }) => state).sort()).toEqual(['aborted', 'running']);
    await client.cancel(both[0].view.id);
  });
});

describe('a bad definition', () => {
  it('is refused with all that is wrong, and leaves nothing', async () => {
    const definition = { name: 'n', cwd: '/', tasks: [{ name: 'a', command: 'x {y}', after: 'b', oops: 1 }] };
    const { code, details } = await codeOf(() => client.define({ definition }));
    expect(code).toBe('bad-definition');
    expect(details).toMatchObject({ total: 3 });
    expect(await codeOf(() => client.define({ definition: undefined }))).toMatchObject({ code: 'bad-input' });
    expect(await codeOf(() => client.define({ definition: { name: 'n', tasks: [] } }))).toMatchObject({
      code: 'bad-definition',
      message: "the definition lacks 'cwd': where its tasks run",
    });
    expect((await client.workflows()).workflows).toEqual([]);
  });

  it('that a batch of is refused is aborted as a whole', async () => {
    const tasks = [
      { name: 'a', command: 'x {i}', args: { i: { from: 1, to: 5_000 } } },
      { name: 'b', command: 'x', after: { workflow: 'w77', task: 1 } },
    ];
    expect(await codeOf(() => client.define({ definition: { name: 'n', cwd: '/', tasks } }))).toMatchObject({
      code: 'workflow-unknown',
    });
    expect((await client.workflows()).workflows).toMatchObject([{ state: 'aborted' }]);
  });
});

describe('tasks of other workflows', () => {
  const upstream = {
    name: 'up',
    cwd: '/',
    tasks: [
      { name: 'ok', command: 'ok' },
      { name: 'slow', command: 'hang' },
      { name: 'bad', command: 'fail' },
    ],
  };
  const waitingFor = (link: object) =>
    ({ name: 'down', cwd: '/', tasks: [{ name: 'x', command: 'x', after: link }] }) as Definition;
  const stateOf = async (task: string) => (await client.task(task)).state;

  it('are waited for by id or by name, and count at once when they have ended', async () => {
    await client.define({ definition: upstream });
    await eventually(async () => expect([await stateOf('w1.1'), await stateOf('w1.3')]).toEqual(['done', 'failed']));
    await client.define({ definition: waitingFor({ workflow: 'w1', task: 1 }), replaces: true });
    await eventually(async () => expect(await stateOf('w2.1')).toBe('done'));
    await client.define({ definition: waitingFor({ workflow: 'up', task: 'bad' }), replaces: true });
    await eventually(async () => expect(await stateOf('w3.1')).toBe('cancelled'));
    await client.define({ definition: waitingFor({ workflow: 'up', task: 'slow', on: 'any' }), replaces: true });
    expect(await stateOf('w4.1')).toBe('waiting');
    await client.cancelTask('w1.2');
    await eventually(async () => expect(await stateOf('w4.1')).toBe('done'));
  });

  it('are refused where there are none', async () => {
    await client.define({ definition: upstream });
    const refused = (link: object) => codeOf(() => client.define({ definition: waitingFor(link) }));
    expect(await refused({ workflow: 'w9', task: 1 })).toMatchObject({ code: 'workflow-unknown' });
    expect(await refused({ workflow: 'upp', task: 1 })).toMatchObject({ code: 'workflow-unknown' });
    expect(await refused({ workflow: 'up', task: 4 })).toMatchObject({ code: 'task-unknown' });
    expect(await refused({ workflow: 'up', task: 'okay' })).toMatchObject({ code: 'task-unknown' });
    expect((await client.workflows()).workflows).toHaveLength(1);
    await client.cancel('w1');
  });

  it('stay parents of tasks after a restart', async () => {
    await client.define({ definition: { ...upstream, tasks: [{ name: 'h', command: 'ok', held: true }] } });
    await client.define({ definition: waitingFor({ workflow: 'up', task: 'h' }) });
    await controller.close();
    controller = await startController({ remains, hasWorker: false });
    client = new Client(controller.access);
    expect(await stateOf('w2.1')).toBe('waiting');
    await client.cancelTask('w1.1');
    expect(await stateOf('w2.1')).toBe('cancelled');
  });
});

describe('an open workflow', () => {
  it('runs what it has, and grows by tasks that wait for those', async () => {
    const first = command('first', 'ok');
    const flow = workflow('growing', { open: true }).add(first);
    const { view } = await flow.submit();
    await eventually(async () => expect((await client.task('w1.1')).state).toBe('done'));
    const more = template('more', 'x {i}').tasks({ i: [1, 2] }, { after: first });
    flow.add(more, command('last', 'y', { after: more }));
    await flow.submit();
    await eventually(async () => expect((await client.workflow(view.id)).counts).toMatchObject({ total: 4, done: 4 }));
    expect((await client.workflow(view.id)).state).toBe('running');
    await flow.close();
    expect((await flow.run()).state).toBe('done');
  });
});
