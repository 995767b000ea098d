/** Conditional reads, over HTTP, at a real controller in this process. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../controller/eventually.ts';
import { type Call, callsTo } from '../controller/http.ts';
import { type InProcessController, startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

let controller: InProcessController;
let call: Call;

beforeAll(async () => {
  controller = await startController();
  call = callsTo(controller.access);
  const tasks = [{ command: 'x', held: true }, { command: 'y' }];
  await call('POST', 'workflows', { spec: plainSpec, batch: { tasks, edges: [] } });
  await eventually(async () => expect((await call('GET', 'tasks/w1.2')).body.state).toBe('done'));
});

afterAll(() => controller.close());

const known = (tag: string) => ({ 'if-none-match': tag });

it.each(['tasks/w1.1', 'tasks', 'workflows/w1/tasks', 'attempts', 'events?limit=3'])(
  '%s is answered with 304 and no body to who has it already',
  async (path) => {
    const first = await call('GET', path);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/".{20,}"$/);
    for (const given of [tag, `"x", ${tag}`, tag.replace('W/', ''), '*']) {
      const again = await call('GET', path, undefined, known(given));
      expect([again.status, again.body, again.headers.get('etag')]).toEqual([304, '', tag]);
    }
    expect((await call('GET', path, undefined, known('W/"x"'))).status).toBe(200);
  },
);

it('what has changed is answered anew, whoever changed it', async () => {
  const paths = ['tasks/w1.1', 'tasks', 'tasks?priority=7', 'tasks?state=waiting,queued&fields=id,priority', 'events'];
  const before = await Promise.all(paths.map((path) => call('GET', path)));
  await call('POST', 'tasks/w1.1/priority', { priority: 7 });
  for (const [at, path] of paths.entries()) {
    const after = await call('GET', path, undefined, known(before[at]?.headers.get('etag') ?? ''));
    expect([path, after.status]).toEqual([path, 200]);
    expect(after.body).not.toEqual(before[at]?.body);
  }
  const apart = await call('GET', 'tasks?fields=id');
  await call('POST', 'tasks/w1.1/priority', { priority: 8 });
  expect((await call('GET', 'tasks?fields=id', undefined, known(apart.headers.get('etag') ?? ''))).status).toBe(304);
});

it('a refusal has no tag, and neither has a change', async () => {
  expect((await call('GET', 'tasks/w9.1', undefined, known('*'))).status).toBe(404);
  expect((await call('POST', 'tasks/w1.1/hold', undefined, known('*'))).status).toBe(200);
});
