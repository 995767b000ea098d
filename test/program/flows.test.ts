/** Definitions of workflows, as real processes: run again, shared with a program, and never half there. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AccessFile } from '../../src/platform/node/access-file.ts';
import { Client } from '../../src/sdk/client.ts';
import { pause } from '../../src/sdk/pause.ts';
import { type Place, place, type Running, readQuietly, until } from './drover.ts';

const root = resolve(import.meta.dirname, '..', '..');

let here: Place;
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

const file = (name: string): string => join(here.path, name);
const linesOf = (name: string): string[] => readQuietly(file(name)).split('\n').filter(Boolean);

describe('a definition', () => {
  it('of the examples runs, and with all of it done is not run again', async () => {
    const flow = join(root, 'examples', 'flow.yaml');
    expect(await here.run(['run', flow])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^24 words$/m) });
    const again = await here.run(['run', flow, '-q']);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('all of it is done')]);
  });

  it('goes on where a failure left it, and repeats nothing that is done', async () => {
    writeFileSync(
      file('flow.yaml'),
      `name: again
tasks:
  - {name: a, command: "echo {i} >> ran", args: {i: ["it's 1", '2; x']}}
  - {name: b, command: "cat missing; rc=$?; echo b >> ran; exit $rc", after: a}
  - {name: c, command: "echo c >> ran", after: b}
`,
    );
    expect((await here.run(['run', 'flow.yaml'])).code).toBe(1);
    expect(linesOf('ran').sort()).toEqual(['2; x', 'b', "it's 1"]);
    writeFileSync(file('missing'), '');
    const second = await here.run(['run', 'flow.yaml']);
    expect([second.code, second.stderr]).toEqual([0, expect.stringContaining('going on with w1')]);
    expect(linesOf('ran').slice(3)).toEqual(['b', 'c']);
    const third = await here.run(['run', 'flow.yaml']);
    expect([third.code, third.stderr]).toEqual([
      0,
      expect.stringContaining('w1 is the same workflow, and all of it is done'),
    ]);
    expect(linesOf('ran')).toHaveLength(5);
    const other = readFileSync(file('flow.yaml'), 'utf8').replace('name: c', 'name: d');
    writeFileSync(file('flow.yaml'), other);
    const refused = await here.run(['run', 'flow.yaml']);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/added: 1\n {4}d\n {2}removed: 1\n {4}c\n/),
    ]);
  });
});

describe('at a server', () => {
  let worker: Running;
  let client: Client;

  beforeEach(async () => {
    await here.run(['server', '--detach']);
    worker = here.start(['worker', '-j', '2']);
    const { url, tokens } = JSON.parse(readFileSync(file('.drover/access.json'), 'utf8')) as AccessFile;
    client = new Client({ url, token: tokens.admin });
  });

  afterEach(async () => {
    worker.child.kill('SIGTERM');
    await worker.ended;
    await here.run(['server', 'stop']);
  });

  const program = `
    import { any, command, connect, template, workflow } from 'drover/client';
    const client = connect(process.argv[1] + '/.drover/access.json');
    const copy = template('copy', 'echo {from} > {to}');
    const copies = copy.tasks([{ from: 'a', to: 'x' }, { from: 'b c', to: 'y z' }]);
    const flow = workflow('copies', { cwd: process.argv[1] }).add(command('all', 'cat x "y z" > all', { after: copies }));
    const { state } = await flow.run({ client });
    console.log(state, (await flow.submit({ client })).outcome);
  `;

  it('a program runs a workflow that it has built', async () => {
    const words = ['--input-type=module', '--eval', program, here.path];
    const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (data) => {
      printed += data;
    });
    await new Promise((done) => child.once('close', done));
    expect(printed).toBe('done done\n');
    expect(readFileSync(file('all'), 'utf8')).toBe('a\nb c\n');
  });

  /** Some tasks run as soon as anything may; the others are held, and are many enough for several batches. */
  const large = `name: large
tasks:
  - {name: probe, command: "echo $DROVER_WORKFLOW_ID >> ran; : {i}", args: {i: {from: 1, to: 3}}}
  - {name: rest, command: ": {i} ${'x'.repeat(1_000)}", held: true, args: {i: {from: 1, to: 3000}}}
`;
  const size = 3_003;
  const kills = 50;

  it(`a definer that is killed at ${kills} moments leaves all of a workflow, or nothing that runs`, async () => {
    writeFileSync(file('large.yaml'), large);
    const submit = () =>
      here.start(['submit', '--fresh', 'large.yaml'], '', {
        program: [process.execPath, join(root, '.bundle', 'cli.js')],
      });
    const begunAt = performance.now();
    expect((await submit().ended).code).toBe(0);
    const wholeMs = performance.now() - begunAt;
    for (let round = 0, seen = 1; round < kills; round++) {
      const { child, ended } = submit();
      // Half of the kills wait until there is something to leave half done; the others come at any time.
      if (round % 2 === 0) seen = await grown(seen, ended);
      await pause((round % 2 === 0 ? 0.3 : 1.1) * wholeMs * ((round * 0.618) % 1));
      child.kill('SIGKILL');
      await ended;
      seen = (await client.workflows({ limit: 1 })).workflows.length === 0 ? 0 : await countOf();
    }
    const views = [];
    for await (const view of client.eachWorkflow()) views.push(view);
    const whole = views.filter(({ state }) => state === 'running');
    const parts = views.filter(({ state }) => state === 'registering' || state === 'aborted');
    expect(whole.length + parts.length).toBe(views.length);
    expect([whole.length > 0, parts.length > 0]).toEqual([true, true]);
    for (const { counts } of whole) expect(counts.total).toBe(size);
    await until('all that may run', () => linesOf('ran').length >= 3 * whole.length);
    const ran = new Map(whole.map(({ id }) => [id, 0]));
    for (const id of linesOf('ran')) ran.set(id, (ran.get(id) ?? 0) + 1);
    expect([...ran]).toEqual(whole.map(({ id }) => [id, 3]));
    for (const { id } of parts) {
      const { tasks } = await client.tasksOf(id, { where: 'state!=registering,aborted', limit: 1 });
      expect(tasks).toEqual([]);
    }
  }, 240_000);

  const countOf = async (): Promise<number> => {
    const [newest] = (await client.workflows({ limit: 1 })).workflows;
    return Number(newest?.id.slice(1) ?? 0);
  };

  /** Resolves when there is another workflow than those that were seen, or its definer has ended without one. */
  async function grown(seen: number, ended: Promise<unknown>): Promise<number> {
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    for (;;) {
      const count = await countOf();
      if (count > seen || isOver) return count;
      await pause(2);
    }
  }
});
