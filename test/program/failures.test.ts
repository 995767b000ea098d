/** What failed, why, and how it is tried again: with real processes. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FailureList, StatisticsView } from '../../src/protocol/views/statistics.ts';
import { Herd } from './herd.ts';

let herd: Herd;

beforeEach(() => {
  herd = new Herd();
});

afterEach(() => herd.close());

it('failures are grouped by what was written, and a group is tried again by its own command, also after a restart', async () => {
  const server = await herd.server();
  await herd.worker('-j', '2');
  const task = '[ -e ok ] && exit; case {} in 1|2|3) echo "no /data/{}: $$" >&2; exit 3;; 4) kill -SEGV $$;; esac';
  const id = (await herd.ok('submit', task, ':::', '1', '2', '3', '4', '5')).trim();
  await herd.run('wait', id);
  await herd.ok('server', 'stop');
  await server.ended;
  await herd.server();
  const { groups } = JSON.parse(await herd.ok('failures', id, '--json')) as FailureList;
  expect(groups.map(({ cause, count }) => [cause, count])).toEqual([
    ['exit:3', 3],
    ['signal:11', 1],
  ]);
  expect(groups[0]?.pattern).toBe('no <path>: #');
  const view = JSON.parse(await herd.ok('stats', id, '--json')) as StatisticsView;
  expect(view).toMatchObject({
    isPartial: false,
    states: { done: 1, failed: 4 },
    outcomes: { exited: 3, signalled: 1 },
  });
  expect(view.runningMs?.count).toBe(5);
  herd.write('ok');
  const [, ...words] = groups[0]?.rerun?.split(' ') ?? [];
  expect(await herd.ok(...words)).toBe('3 tasks were tried again\n');
  await herd.run('wait', id);
  expect(await herd.ok('failures', id)).toMatch(/^1 task: signal 11 \(SEGV\)\n/);
});

it('without a server the command of a group runs that group here, to its end, and nothing else', async () => {
  const task = 'echo {} >> ran; [ -e ok ] && exit; case {} in 1|2) exit 3;; 3) exit 4;; esac';
  expect((await herd.run('run', task, ':::', '1', '2', '3', '4')).code).toBe(1);
  const { groups } = JSON.parse(await herd.ok('failures', '--json')) as FailureList;
  const [, ...words] = groups[0]?.rerun?.split(' ') ?? [];
  herd.write('ok');
  expect(await herd.ok(...words, '--dry-run')).toBe('2 tasks would be tried again\n');
  const again = await herd.run(...words);
  expect([again.code, again.stdout]).toEqual([1, '2 tasks were tried again\n']);
  expect(again.stderr).toContain('w1 failed: 3 of 4 tasks done, 1 failed');
  expect(herd.lines('ran').sort()).toEqual(['1', '1', '2', '2', '3', '4']);
  expect(await herd.run('retry', 'w1', '--cause', 'exit:9')).toMatchObject({
    code: 0,
    stdout: 'no task matches\n',
    stderr: '',
  });
  expect(await herd.run('retry', 'w1.99')).toMatchObject({ code: 2, stdout: '' });
  expect(await herd.run('retry', '--where', 'state=failed')).toMatchObject({ code: 3 });
  expect(await herd.run('retry', 'w1.3')).toMatchObject({ code: 0, stdout: 'w1.3 will be tried again\n' });
});
