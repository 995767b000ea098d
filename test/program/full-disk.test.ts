/** A disk without room: what is told, with which exit code, and that nothing acknowledged is lost. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, lastJson, mark, type Place, place, processesOf, sleepers, until } from './drover.ts';
import { type SmallDisks, smallDisks } from './small-disk.ts';

const probe = smallDisks();
probe?.remove();
const canMount = probe !== undefined;
if (!canMount) process.stderr.write('full-disk.test.ts: skipped: neither root nor a user namespace may mount here\n');

let here: Place;
let disks: SmallDisks;
beforeEach(() => {
  here = place();
  disks = smallDisks() as SmallDisks;
});
afterEach(() => {
  disks.remove();
  here.remove();
});

const file = (name: string): string => join(here.path, name);
const linesOf = (name: string): string[] => readFileSync(file(name), 'utf8').trimEnd().split('\n');
const run = (...args: string[]): Promise<Ended> => here.run(args, { via: disks.via });

const oneTooMany =
  /can't be written: the disk is full|it can not be opened|the worker can't start: the disk of .* is full/;
const advice = 'make the folder writable, free disk space, or name another one with --dir';

describe.skipIf(!canMount)('a folder on a disk that is full', () => {
  it.each([
    ['size=4k', /lock\.db: the disk is full/],
    // Room for a page of the database, and none for the index of its log.
    ['size=28k', /drover\.db: the disk is full/],
    ['size=48k', /drover\.db: the disk is full/],
    // Which file is the one too many depends on the size of an empty database.
    ['size=116k', /(drover\.db|tokens\.json|access\.json).*: the disk is full/],
    ['size=128k', /(drover\.db|tokens\.json|access\.json).*: the disk is full/],
    // Which file is the one too many is up to the worker and the controller, which start side by side.
    ['size=8m,nr_inodes=6', oneTooMany],
    ['size=8m,nr_inodes=10', oneTooMany],
    ['size=8m,nr_inodes=15', oneTooMany],
  ])('at the start (%s) ends the command with exit 4, and a run after room was made goes well', async (size, what) => {
    disks.mount(file('.drover'), size);
    const { code, stdout, stderr } = await run('run', 'echo {}', ':::', 'a', 'b');
    expect([code, stdout, stderr]).toEqual([4, '', expect.stringMatching(what)]);
    expect(stderr).toContain(advice);
    expect(processesOf(here.path)).toEqual([]);
    disks.resize(file('.drover'), 'size=8m,nr_inodes=100');
    const next = await run('run', 'echo {}', ':::', 'a', 'b');
    expect([next.code, next.stdout]).toEqual([0, 'a\nb\n']);
  });

  it('during a run ends it with exit 4 and all that it runs; what was shown as done is not run again', async () => {
    const long = mark();
    disks.mount(file('.drover'), 'size=1m');
    disks.mount(file('.drover/worker'), 'size=8m');
    const talk = (n: number): string => `echo ${n} >> ran; echo first ${n}; head -c 30000 /dev/zero | tr '\\0' x`;
    const waiting = 'until [ -e go ]; do sleep 0.02; done';
    const input = [`[ -e ran1 ] || { touch ran1; sleep ${long}; }`, talk(2), talk(3), waiting];
    for (let n = 5; n <= 60; n++) input.push(talk(n));
    const running = here.start(['run', '--json', '-j2', '-'], input.join('\n'), { via: disks.via });
    await until('two are shown as done', () => running.stdout().includes('"done":2'));
    writeFileSync(file('go'), '');
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toEqual([4, expect.stringMatching(/(drover\.db|output).*the disk is full/)]);
    expect(stderr).toContain(advice);
    expect([sleepers(long), processesOf(here.path)]).toEqual([[], []]);

    disks.resize(file('.drover'), 'size=32m');
    expect((await run('logs', 'w1.2')).stdout).toMatch(/^first 2\nx{30000}$/);
    const resumed = await run('resume', '--json');
    expect([resumed.code, lastJson(resumed.stdout)]).toEqual([0, expect.objectContaining({ state: 'done', done: 60 })]);
    expect(linesOf('ran').filter((line) => line === '2' || line === '3')).toEqual(['2', '3']);
    expect(new Set(linesOf('ran')).size).toBe(58);
    for (const n of [3, 60]) expect((await run('logs', `w1.${n}`)).stdout).toHaveLength(`first ${n}\n`.length + 30_000);
  });

  it('under a server ends it with exit 4; with room a new one goes on, and the worker is still there', async () => {
    disks.mount(file('.drover'), 'size=1m');
    disks.mount(file('.drover/workers'), 'size=8m');
    const options = { via: disks.via };
    const server = here.start(['server', '--json'], '', options);
    await until('the server is ready', () => server.stdout().includes('\n'));
    here.start(['worker', '-j1'], '', options);
    const talk = `echo $DROVER_INDEX >> ran; head -c 30000 /dev/zero | tr '\\0' x`;
    expect((await run('submit', talk, '--array', '1-60')).code).toBe(0);
    const { code, stderr } = await server.ended;
    expect([code, stderr]).toEqual([4, expect.stringContaining('the disk is full')]);
    disks.resize(file('.drover'), 'size=32m');
    const next = here.start(['server', '--json'], '', options);
    await until('the next server is ready', () => next.stdout().includes('\n'));
    const waited = await run('wait', '--json', 'w1');
    expect([waited.code, lastJson(waited.stdout)]).toEqual([0, expect.objectContaining({ done: 60 })]);
    expect(new Set(linesOf('ran')).size).toBe(60);
    expect((await run('server', 'stop')).code).toBe(0);
  });
});

describe.skipIf(!canMount)('a full disk of tasks, with room in the store', () => {
  it('fails the task that writes too much to its output, and no other', async () => {
    disks.mount(file('.drover/worker'), 'size=300k');
    // The next task has room again once the controller has taken what filled the disk.
    const after =
      'until head -c 90000 /dev/zero 2>&- > .drover/worker/x; do sleep 0.02; done; rm .drover/worker/x; echo after';
    const input = ['echo before', 'head -c 2000000 /dev/zero', after].join('\n');
    const ended = await here.run(['run', '--json', '-j1', '-'], { input, via: disks.via });
    expect([ended.code, lastJson(ended.stdout)]).toEqual([1, expect.objectContaining({ done: 2, failed: 1 })]);
    expect((await run('logs', 'w1.1')).stdout).toBe('before\n');
    expect((await run('logs', 'w1.2')).stdout.length).toBeGreaterThan(100_000);
    expect((await run('logs', 'w1.3')).stdout).toBe('after\n');
  });

  it('fails the task that fills its scratch directory with its own error; the next ones find it empty', async () => {
    disks.mount(file('.drover/worker'), 'size=1m');
    // Its standard error is on the same disk: it needs room again to tell.
    const fill =
      'cd "$DROVER_TASK_DIR"; head -c 2000000 /dev/zero > x 2> "$OLDPWD/why" || { rm x; cat "$OLDPWD/why"; exit 9; }';
    const input = [fill, 'head -c 900000 /dev/zero > "$DROVER_TASK_DIR/x" && echo fits', 'ls -A "$DROVER_TASK_DIR"'];
    const ended = await here.run(['run', '--json', '-j1', '-'], { input: input.join('\n'), via: disks.via });
    const failures = [
      expect.objectContaining({ cause: 'exit:9', lastLines: expect.stringContaining('No space left') }),
    ];
    expect([ended.code, lastJson(ended.stdout)]).toEqual([
      1,
      expect.objectContaining({ done: 2, failed: 1, failures }),
    ]);
    expect((await run('logs', 'w1.2')).stdout).toBe('fits\n');
    expect((await run('logs', 'w1.3')).stdout).toBe('');
  });
});
