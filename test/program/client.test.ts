/** The package as another program uses it: `drover/client` imported by its name, against a server of its own. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Place, place } from './drover.ts';

let here: Place;

beforeEach(() => {
  here = place();
});

afterEach(async () => {
  await here.run(['server', 'stop']);
  here.remove();
});

const program = `
import { connect, DroverError } from 'drover/client';
const client = connect(process.argv[1]);
const spec = { cwd: '/', shell: '/bin/sh', env: {}, maxAttempts: 1, terminationMs: 1_000, failFast: false, open: false };
const { id } = await client.submitByLines(spec, [{ command: 'a', held: true }, { command: 'b', held: true, tags: { t: 'x' } }]);
const { changed } = await client.steerTasks('cancel', { where: 'tag.t=x' });
const states = [];
for await (const task of client.eachTask({ where: 'workflow=' + id })) states.push(task.state);
const refusal = await client.tasks({ where: 'stat=x' }).catch((error) => error);
console.log(JSON.stringify({ id, changed, states, isKnown: refusal instanceof DroverError, code: refusal.code }));
`;

it('a program imports the client by the name of the package, and does all with it', async () => {
  await here.run(['server', '--detach']);
  const cwd = resolve(import.meta.dirname, '..', '..');
  const words = ['--input-type=module', '--eval', program, `${here.path}/.drover/access.json`];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual([
    `${JSON.stringify({ id: 'w1', changed: 1, states: ['waiting', 'cancelled'], isKnown: true, code: 'bad-filter' })}\n`,
    '',
  ]);
});
