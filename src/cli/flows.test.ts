/** Definitions on the command line, at a real controller in this process. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/controller/eventually.ts';
import { type InProcessController, startController } from '../../test/controller/in-process.ts';
import { workflowId } from '../model/ids.ts';
import { CliBench } from './bench.testing.ts';

let controller: InProcessController;
let bench: CliBench;

beforeEach(async () => {
  controller = await startController();
  bench = new CliBench(controller.access);
  bench.env.files.set('/me/flow.yaml', flow);
});

afterEach(() => controller.close());

const flow = `
name: flow
args: {who: me}
templates:
  greet: {command: "echo {who} {day}", resources: {memory: 1GB}}
tasks:
  - {template: greet, args: {day: [mon, tue]}}
  - {name: sum, command: sum, after: greet}
`;

const stored = async (id: number) => controller.definitionOf(workflowId(id));

describe('run', () => {
  it('runs a definition in the order of its dependencies', async () => {
    expect(await bench.drover('run', 'flow.yaml', '--arg', 'who=you')).toBe(0);
    const { spec, tasks } = await stored(1);
    expect(tasks.map(({ command }) => command)).toEqual(['echo you mon', 'echo you tue', 'sum']);
    expect(spec).toMatchObject({ name: 'flow', cwd: '/me', shell: '/bin/bash', args: { who: 'you' } });
    expect(bench.env.stderr.text).toMatch(/^w1 \(flow\) done: 3 tasks/m);
  });

  it('takes options before the document, and what tasks say before both', async () => {
    const options = [
      '--name',
      'other',
      '--retries',
      '2',
      '--memory',
      '2GB',
      '--cpus',
      '0.5',
      '--walltime',
      '1h',
      '--fail-fast',
    ];
    expect(await bench.drover('run', 'flow.yaml', ...options, '--queue', 'default')).toBe(0);
    const { spec, tasks } = await stored(1);
    expect(spec).toMatchObject({
      ...{ name: 'other', maxAttempts: 3, failFast: true },
      resources: { memoryBytes: 2e9, cpus: 0.5, runtimeMs: 3_600_000, queue: 'default' },
    });
    expect(tasks[0]?.resources).toEqual({ memoryBytes: 1e9 });
  });

  it('gives plain tasks the resources of its options', async () => {
    expect(await bench.drover('run', 'echo', '--cpus', '2', '--memory', '1GiB', '--gpus', '0', ':::', 'a')).toBe(0);
    expect((await stored(1)).spec?.resources).toEqual({ cpus: 2, memoryBytes: 1024 ** 3, gpus: 0 });
    expect(await bench.drover('run', 'echo', '--memory', '12 parsecs', ':::', 'a')).toBe(2);
  });

  it('goes on with the same definition, says when it is done, and begins anew when told to', async () => {
    bench.env.files.set('/me/bad.yaml', 'name: bad\ntasks: [{name: a, command: ok}, {name: b, command: fail}]\n');
    // It fails the first time only.
    expect(await bench.drover('run', 'bad.yaml')).toBe(1);
    expect(await bench.drover('run', 'bad.yaml')).toBe(0);
    expect(bench.env.stderr.text).toContain('going on with w1, the same workflow, 1 task of 2 done');
    expect(await bench.drover('run', 'flow.yaml')).toBe(0);
    expect(await bench.drover('run', 'flow.yaml')).toBe(0);
    expect(bench.env.stderr.text).toContain('w2 is the same workflow, and all of it is done; --fresh runs it again');
    expect(await bench.drover('run', 'flow.yaml', '--fresh')).toBe(0);
    expect((await bench.client.workflows()).workflows).toHaveLength(3);
  });

  it('shows in what another graph differs, and updates what has changed', async () => {
    await bench.drover('run', 'flow.yaml');
    bench.env.files.set('/me/flow.yaml', flow.replace('tue]', 'tue, wed]'));
    expect(await bench.drover('run', 'flow.yaml')).toBe(2);
    expect(bench.env.stderr.text).toContain(
      "w1 is 'flow' with the same arguments, but other tasks or edges\n  added: 1\n    greet[wed]\n",
    );
    bench.env.stderr.write('');
    expect(await bench.drover('run', 'flow.yaml', '--update', 'w1')).toBe(0);
    expect(bench.env.stderr.text).toContain('unchanged since w1: 3; new or changed: 1');
    expect(await bench.drover('run', 'flow.yaml')).toBe(0);
    expect(bench.env.stderr.text).toContain('w2 is the same workflow, and all of it is done');
  });

  it('prints the tasks and their edges without running them', async () => {
    expect(await bench.drover('run', 'flow.yaml', '--dry-run')).toBe(0);
    expect(bench.env.stdout.lines).toEqual([
      '     1  greet[mon]: echo me mon',
      '     2  greet[tue]: echo me tue',
      '     3  sum: sum   # after 1-2',
    ]);
    expect(bench.env.stderr.text).toBe('3 tasks, 0 joins; nothing was run\n');
    bench.renew();
    bench.env.stdin = flow;
    expect(await bench.drover('run', '--flow', '-', '--dry-run', '--json')).toBe(0);
    expect(bench.lastJson()).toEqual({ dryRun: true, total: 3, joins: 0 });
  });

  it('refuses a bad definition with every place in it, before a controller is asked', async () => {
    bench.env.files.set(
      '/me/bad.yml',
      'name: bad\ntasks:\n  - {name: a, command: x, after: b}\n  - {name: a, comand: x}\n',
    );
    expect(await bench.drover('run', 'bad.yml')).toBe(2);
    expect(bench.env.stderr.lines).toEqual([
      "drover: bad.yml:4:23: tasks[1].comand: unknown field; did you mean 'command'?, and 2 more",
      "  4:12: tasks[1].name: there is a task 'a' already, tasks[0]; give one of them another name",
      "  3:34: tasks[0].after: there is no task 'b'; did you mean 'a'?",
      '  correct the definition and try again; docs/WORKFLOWS.md has its fields',
    ]);
    expect(bench.opened).toEqual([]);
    expect(await bench.drover('run', 'missing.yaml')).toBe(2);
    expect(await bench.drover('run', 'flow.yaml', '--arg', 'who')).toBe(2);
    expect(await bench.drover('run', 'flow.yaml', '--skip-if-exists', 'x')).toBe(2);
  });
});

describe('submit, close and schema', () => {
  it('submits a definition, adds to an open one, and closes it', async () => {
    bench.env.files.set('/me/open.yaml', 'name: o\nopen: true\ntasks: [{name: a, command: ok}]\n');
    bench.env.files.set(
      '/me/more.yaml',
      'tasks: [{name: b, command: ok, after: a}, {name: c, command: ok, after: b}]\n',
    );
    expect(await bench.drover('submit', 'open.yaml')).toBe(0);
    expect(await bench.drover('submit', '--to', 'w1', 'more.yaml')).toBe(0);
    expect(bench.env.stdout.lines).toEqual(['w1', 'w1']);
    await eventually(async () =>
      expect((await bench.client.workflow('w1')).counts).toMatchObject({ total: 3, done: 3 }),
    );
    expect(await bench.drover('close', 'w1')).toBe(0);
    await eventually(async () => expect((await bench.client.workflow('w1')).state).toBe('done'));
    expect(await bench.drover('submit', '--to', 'w1', 'more.yaml')).toBe(2);
    expect(await bench.drover('submit', '--to', 'w1', 'echo', ':::', '1')).toBe(2);
  });

  it('prints the schema of definitions', async () => {
    expect(await bench.drover('schema')).toBe(0);
    expect(JSON.parse(bench.env.stdout.text)).toMatchObject({ required: ['name', 'tasks'] });
  });
});
