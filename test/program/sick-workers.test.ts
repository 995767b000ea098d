/**
 * Workers that fail, hang or die, with real processes, until the controller has drawn its conclusions. Each test waits
 * for most of its time: they run side by side, each with a server of its own.
 */
import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { childrenOf, mark, sleepers, until } from './drover.ts';
import { Herd } from './herd.ts';

const sick = (title: string, show: (herd: Herd) => Promise<void>) =>
  it.concurrent(title, { timeout: 180_000 }, async () => {
    const herd = new Herd();
    try {
      await show(herd);
    } finally {
      await herd.close();
    }
  });

const killAll = (duration: string) => {
  for (const pid of sleepers(duration)) process.kill(pid, 'SIGKILL');
};

describe('a sick worker', () => {
  sick('E4, E38: gets no task unless its health check is good, and says what is wrong', async (herd) => {
    await herd.server('--health-check', `test -e ${herd.file('disk')} || { echo the disk is gone >&2; exit 3; }`);
    await herd.worker('-j', '1');
    const reason = 'it exited with 3: the disk is gone';
    await herd.untilSome('it is checked', async () => (await herd.workerView('k1'))?.reason === reason);
    expect(await herd.ok('workers')).toMatch(
      /^k1 +native +unhealthy +default +1 .* 0 .* it exited with 3: the disk is gone$/m,
    );
    await herd.ok('submit', 'touch begun.{}', ':::', '1');
    expect(await herd.task('w1.1')).toMatchObject({ state: 'queued', attempts: 0 });
    herd.write('disk');
    await herd.untilTask('w1.1', 'done');
    expect(await herd.workerView('k1')).toMatchObject({ state: 'healthy' });
    rmSync(herd.file('disk'));
    await herd.untilSome('it is noticed', async () => (await herd.workerView('k1'))?.state === 'unhealthy', 90_000);
    await herd.ok('submit', 'touch begun.{}', ':::', '2');
    expect(await herd.task('w2.1')).toMatchObject({ state: 'queued', attempts: 0 });
    herd.write('disk');
    await herd.untilTask('w2.1', 'done');
  });

  sick('E9, E10: is replaced by another one of its shard, but not while it is healthy', async (herd) => {
    // A check runs in the environment of its worker: so one may be well, and the other not.
    await herd.server('--allow-bump-unhealthy-worker', '--health-check', 'test -e "$WELL"');
    const start = (name: string) =>
      herd.start(['worker', '-j', '1', '--shard', 'one'], { WELL: herd.file(`well.${name}`) });
    const healthy = async () => (await herd.workers()).filter(({ state }) => state === 'healthy').map(({ id }) => id);
    const first = start('first');
    await herd.untilSome('it is ill', async () => (await herd.workerView('k1'))?.reason === 'it exited with 1');
    herd.write('well.second');
    const second = start('second');
    await until('it is replaced', () => first.stderr().includes('another worker has its shard'));
    await herd.untilSome('by one that is well', async () => (await healthy())[0] === 'k2');
    herd.write('well.first');
    await until('it is not let in again', () => first.stderr().includes('another worker is one (k2)'));
    expect(await healthy()).toEqual(['k2']);
    second.child.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
    const [third] = await herd.untilSome('it is', async () => {
      const ids = await healthy();
      return ids.length > 0 && ids;
    });
    await herd.ok('run', '--server', 'true', ':::', '1');
    expect(await herd.history('w1.1')).toEqual([`${third} succeeded`]);
    expect(first.stderr().match(/refused this worker/g)).toHaveLength(1);
  });

  sick('on which everything fails is quarantined, and its tasks are done elsewhere, uncharged', async (herd) => {
    await herd.server();
    await herd.worker('-j', '2');
    await herd.worker('-j', '2');
    const values = Array.from({ length: 20 }, (_, at) => String(at + 1));
    const command = '[ $DROVER_WORKER = k1 ] || [ -e mended ] || exit 7; sleep 0.2; echo {}';
    await herd.ok('run', '--server', command, ':::', ...values);
    expect((await herd.client.workflow('w1')).counts).toMatchObject({ done: values.length, failed: 0 });
    const { state, bar, reason } = (await herd.workerView('k2')) ?? {};
    expect([state, bar]).toEqual(['healthy', 'quarantined']);
    expect(reason).toMatch(/^\d+ attempts in a row failed on it, and one of the tasks succeeded elsewhere$/);
    expect(await herd.ok('workers')).toMatch(
      /^k2 +native +healthy, quarantined +default +2 .* 0 .* succeeded elsewhere$/m,
    );
    herd.write('mended');
    expect(await herd.ok('worker', 'release', 'k2')).toBe('k2 gets tasks again\n');
    await herd.ok('worker', 'drain', 'k1');
    await herd.ok('run', '--server', command, ':::', 'again');
    expect(await herd.history('w2.1')).toEqual(['k2 succeeded']);
  });

  sick('that is lost: what it ran is tried again, held for its owner, or failed, as --on-lost says', async (herd) => {
    await herd.server('--preset', 'interactive');
    const long = mark();
    const worker = await herd.worker('-j', '3');
    const policies = ['requeue', 'hold', 'fail'];
    for (const policy of policies) {
      await herd.ok(
        'submit',
        '--on-lost',
        policy,
        `[ -e seen.{} ] || { touch seen.{}; sleep ${long}; }`,
        ':::',
        policy,
      );
    }
    await until('all run', () => sleepers(long).length === 3);
    await herd.worker('-j', '3');
    herd.killAtOnce(worker);
    // Nobody is left there who could: a successor would, and would prove that they are dead.
    killAll(long);
    expect(await herd.untilTask('w3.1', 'failed', 40_000)).toMatchObject({ reason: 'lost', attempts: 1 });
    expect(await herd.workerView('k1')).toMatchObject({
      state: 'gone',
      reason: expect.stringContaining('no heartbeat'),
    });
    await herd.untilTask('w1.1', 'done');
    expect(await herd.history('w1.1')).toEqual(['k1 lost worker', 'k2 succeeded']);
    expect(await herd.task('w2.1')).toMatchObject({ state: 'queued', held: true, attempts: 1 });
    expect(await herd.ok('show', 'w2.1')).toMatch(/^state +queued \(held\)\nheld +until 'drover retry w2.1'$/m);
    expect(await herd.ok('retry', 'w2.1')).toBe('w2.1 will be tried again\n');
    await herd.ok('wait', 'w2');
    expect(await herd.history('w2.1')).toEqual(['k1 lost worker', 'k2 succeeded']);
    expect((await herd.run('wait', 'w3')).code).toBe(1);
  });

  sick(
    'E5: stopped past its limit, has no task left when they run elsewhere; continued, it kills itself',
    async (herd) => {
      await herd.server('--preset', 'interactive');
      const worker = await herd.worker('-j', '2');
      const stamp = (what: string) => `echo ${what} $DROVER_ATTEMPT $DROVER_WORKER $EPOCHREALTIME >> log.{}`;
      const beats = `[ $DROVER_ATTEMPT -gt 1 ] || while sleep 0.1; do ${stamp('beat')}; done`;
      await herd.ok('submit', `${stamp('begin')}; ${beats}; ${stamp('end')}`, ':::', 'a', 'b');
      const isBeating = (value: string) => herd.lines(`log.${value}`).length > 2;
      await until('both run', () => isBeating('a') && isBeating('b'));
      await herd.worker('-j', '2');
      worker.child.kill('SIGSTOP');
      await herd.untilTask('w1.1', 'done', 60_000);
      await herd.untilTask('w1.2', 'done');
      worker.child.kill('SIGCONT');
      await until('it came back', () => worker.stderr().includes('what ran here was killed'));
      await herd.untilSome('as another', async () => (await herd.workerView('k3'))?.state === 'healthy');
      expect(await herd.workerView('k1')).toMatchObject({ state: 'gone' });
      for (const [at, value] of ['a', 'b'].entries()) {
        expect(await herd.history(`w1.${at + 1}`)).toEqual(['k1 lost worker', 'k2 succeeded']);
        const stamps = herd.lines(`log.${value}`).map((line) => line.split(' '));
        const [first, second] = ['1', '2'].map((number) => stamps.filter((words) => words[1] === number));
        expect(second?.map(([what, , who]) => `${what} ${who}`)).toEqual(['begin k2', 'end k2']);
        expect(first?.filter(([what]) => what === 'begin')).toHaveLength(1);
        expect(Number(first?.at(-1)?.[3])).toBeLessThan(Number(second?.[0]?.[3]));
      }
    },
  );

  sick('whose spawner hangs: what that ran is killed, lost with its cylinder, and runs again', async (herd) => {
    await herd.server();
    const worker = await herd.worker('-j', '1');
    const long = mark();
    await herd.ok('submit', `[ -e seen ] || { touch seen; sleep ${long}; }; echo end {}`, ':::', '1');
    await until('it runs', () => sleepers(long).length === 1);
    for (const pid of childrenOf(worker.pid)) process.kill(pid, 'SIGSTOP');
    await until('it is dead', () => sleepers(long).length === 0, 30_000);
    expect(await herd.ok('wait', 'w1')).toBe('end 1\n');
    expect(await herd.history('w1.1')).toEqual(['k1 lost cylinder', 'k1 succeeded']);
    expect(worker.child.exitCode).toBeNull();
  });
});
