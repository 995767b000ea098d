/** Workers that can't end their tasks themselves: killed together with the spawner. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { childrenOf, mark, type Place, place, type Running, sleepers, startIn, until } from './drover.ts';

let here: Place;
let started: Running[];
let long: string;

beforeEach(() => {
  here = place();
  started = [];
  long = mark();
});

afterEach(async () => {
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
  for (const pid of sleepers(long)) process.kill(pid, 'SIGKILL');
  here.remove();
});

function start(...args: string[]): Running {
  const running = startIn(here.path, args, { env: { XDG_STATE_HOME: join(here.path, 'state') } });
  started.push(running);
  return running;
}

async function startServer(): Promise<Running> {
  const server = start('server', '--json', '--preset', 'interactive');
  await until('the server is ready', () => server.stdout().includes('\n'));
  return server;
}

it.each([
  { with: 'in the folder', access: [] },
  { with: 'with an access file', access: ['--access', '.drover/access.json'] },
])(
  'what both killed left is ended by the next worker $with, though the controller has moved meanwhile',
  async ({ access }) => {
    const server = await startServer();
    const worker = start('worker', '-j', '1', ...access);
    await here.run(['submit', `sleep ${long}; true {}`, ':::', '1']);
    await until('the task runs', () => sleepers(long).length === 1);
    const all = [worker.pid, ...childrenOf(worker.pid), server.pid];
    // Stopped first: neither of the two may notice the death of the other.
    for (const signal of ['SIGSTOP', 'SIGKILL']) for (const pid of all) process.kill(pid, signal);
    await Promise.all([server.ended, worker.ended]);
    expect(sleepers(long)).toHaveLength(1);
    const [orphan] = sleepers(long);
    await startServer();
    start('worker', '-j', '1', ...access);
    await until('the task runs again, alone', () => sleepers(long).length === 1 && sleepers(long)[0] !== orphan);
  },
);
