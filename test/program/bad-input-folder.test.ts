/** A `.drover` folder that can't be used, or is used by another: what is said, and that nothing of it is lost. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Ended, lastJson, type Place, place, type Running, until } from './drover.ts';

let earlier: Place;
/** A run whose worker directory another process holds. It takes half a minute, beside the other tests. */
let stuck: { place: Place; lock: string; holder: ChildProcess; ended: Promise<Ended> };
let here: Place;
let running: Running[];

beforeAll(async () => {
  earlier = place();
  await earlier.run(['run', '-q', 'echo kept {}', ':::', '1']);
  stuck = await startStuck();
});

afterAll(() => {
  stuck.holder.kill('SIGKILL');
  stuck.place.remove();
  earlier.remove();
});

async function startStuck(): Promise<typeof stuck> {
  const elsewhere = place();
  const lock = join(elsewhere.path, '.drover', 'worker', 'lock');
  mkdirSync(dirname(lock), { recursive: true });
  const hold = 'exec 9>"$0"; flock -x 9; echo held; exec sleep 300';
  const holder = spawn('sh', ['-c', hold, lock], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  return { place: elsewhere, lock, holder, ended: elsewhere.start(run).ended };
}

/** A place where w1 has run. */
beforeEach(() => {
  here = place();
  running = [];
  restore();
});

afterEach(async () => {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.map(({ ended }) => ended));
  here.remove();
});

const file = (name: string): string => join(here.path, name);
const inFolder = (name: string): string => join(here.path, '.drover', name);

function restore(): void {
  rmSync(file('.drover'), { recursive: true, force: true });
  cpSync(join(earlier.path, '.drover'), file('.drover'), { recursive: true });
}

const rubbish = 'rubbish '.repeat(1_000);

function start(...args: string[]): Running {
  const started = here.start(args);
  running.push(started);
  return started;
}

/** A run whose task ends when there is a file `go`. */
async function startRun(): Promise<Running> {
  const run = start('run', '--json', 'until [ -e go ]; do sleep 0.02; done; echo {}', ':::', '1');
  await until('the task runs', () => run.stdout().includes('"running":1'));
  return run;
}

interface Refusal {
  readonly code: number;
  readonly wrong: string;
  readonly todo: string;
}

/** Both to people and as JSON. */
async function expectRefusal(args: readonly string[], { code, wrong, todo }: Refusal): Promise<void> {
  const ended = await here.run([...args, '--json']);
  const { error } = lastJson(ended.stdout) as { error: { message: string; hint: string } };
  expect(ended.stdout.replace(/^\{"type":"progress".*\n/gm, '')).toBe(`${JSON.stringify({ error })}\n`);
  expect(ended.code).toBe(code);
  expect(error).toMatchObject({ message: expect.stringContaining(wrong), hint: expect.stringContaining(todo) });
  expect(ended.stderr).toContain(`drover: ${error.message}\n  ${error.hint}\n`);
}

async function expectIntact(): Promise<void> {
  expect(await here.json(['show', 'w1', '--json'])).toMatchObject({ state: 'done', counts: { total: 1, done: 1 } });
  expect((await here.run(['logs', 'w1.1'])).stdout).toBe('kept 1\n');
}

const run = ['run', 'true', '--array', '1'];
const all = [run, ['ls'], ['server']];

function spoilPage(table: string): void {
  const database = new DatabaseSync(inFolder('drover.db'));
  const page = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)?.rootpage;
  database.close();
  const bytes = readFileSync(inFolder('drover.db'));
  writeFileSync(inFolder('drover.db'), bytes.fill(0xff, (Number(page) - 1) * 4096, Number(page) * 4096));
}

function makeNewer(): void {
  const database = new DatabaseSync(inFolder('drover.db'));
  database.exec("UPDATE meta SET value = 99 WHERE key = 'version'");
  database.close();
}

/** Something of the other kind where a file or folder is expected. */
function replace(name: string, by: 'file' | 'folder'): void {
  rmSync(inFolder(name), { recursive: true, force: true });
  if (by === 'file') writeFileSync(inFolder(name), '');
  else mkdirSync(inFolder(name));
}

const damaged = { code: 4, todo: 'restore the folder from a backup, or name another one with --dir' };
const inTheWay = { code: 4, todo: 'make the folder writable' };

describe('a folder is refused and left as it is, and from its backup goes on,', () => {
  it.each([
    [
      'when it is a file',
      () => {
        rmSync(file('.drover'), { recursive: true });
        writeFileSync(file('.drover'), 'mine');
      },
      [...all, ['resume'], ['server', '--detach']],
      { code: 4, wrong: '.drover can not be used: it is a file, not a folder', todo: 'move it away' },
    ],
    [
      'when it is of a newer version',
      makeNewer,
      all,
      { code: 4, wrong: 'has schema version 99; this Drover knows', todo: 'upgrade Drover' },
    ],
    [
      'when its store is rubbish',
      () => writeFileSync(inFolder('drover.db'), rubbish),
      all,
      { ...damaged, wrong: 'drover.db: it is not a database' },
    ],
    [
      'when its store is cut off',
      () => truncateSync(inFolder('drover.db'), 20_000),
      all,
      { ...damaged, wrong: 'drover.db: its content is damaged' },
    ],
    [
      'when its store is emptied',
      () => truncateSync(inFolder('drover.db'), 0),
      all,
      { ...damaged, wrong: 'drover.db is empty, but this folder has been used' },
    ],
    [
      'when a page is damaged that is read at the start',
      () => spoilPage('workflow'),
      all,
      { ...damaged, wrong: 'drover.db: its content is damaged' },
    ],
    [
      'when a page is damaged that is read later',
      () => spoilPage('definition'),
      [run, ['show', 'w1']],
      { ...damaged, wrong: 'drover.db: its content is damaged' },
    ],
    [
      'when its lock is rubbish',
      () => writeFileSync(inFolder('lock.db'), rubbish),
      all,
      { code: 4, wrong: 'lock.db: it is not a database', todo: 'remove that file' },
    ],
    [
      'when a folder is in the place of the access file',
      () => replace('access.json', 'folder'),
      [run, ['server'], ['server', '--detach']],
      { ...inTheWay, wrong: "access.json can't be written: EISDIR" },
    ],
    [
      'when a folder is in the place of the tokens',
      () => replace('tokens.json', 'folder'),
      all,
      { ...inTheWay, wrong: "tokens.json can't be written: EISDIR" },
    ],
    ['when a file is in the place of the logs', () => replace('logs', 'file'), all, { ...inTheWay, wrong: 'logs' }],
    [
      'when a file is in the place of the worker',
      () => replace('worker', 'file'),
      [run],
      { code: 4, wrong: 'the worker ends right after its start: the worker can not use', todo: "the worker's log" },
    ],
    [
      'when a file is in the place of the output',
      () => replace('output', 'file'),
      all,
      { ...inTheWay, wrong: 'output' },
    ],
  ])('%s', async (_, spoil, commands, refusal) => {
    spoil();
    for (const args of commands) await expectRefusal(args, refusal);
    restore();
    await expectIntact();
  });
});

/** Undefined where it can't be done; else what makes it writable again. */
function makeReadOnly(path: string): (() => void) | undefined {
  if (process.getuid?.() !== 0) {
    chmodSync(path, 0o500);
    return () => chmodSync(path, 0o700);
  }
  // Root may write in spite of permissions, but not to a disk that is mounted read-only.
  const mount = (...args: string[]) => execFileSync('mount', args, { stdio: 'ignore' });
  try {
    mount('--bind', path, path);
  } catch {
    return undefined;
  }
  const unmount = () => execFileSync('umount', [path], { stdio: 'ignore' });
  try {
    mount('-o', 'remount,ro,bind', path);
    return unmount;
  } catch {
    unmount();
    return undefined;
  }
}

it('a folder that can not be written is refused, and is as it was when it can', async ({ skip }) => {
  const makeWritable = makeReadOnly(file('.drover'));
  if (makeWritable === undefined) return skip('root may write everywhere here, and may mount nothing');
  try {
    for (const args of all) await expectRefusal(args, { ...inTheWay, wrong: `${file('.drover')} can not be used: E` });
    const { code, stderr } = await here.run(['worker']);
    expect([code, stderr]).toEqual([4, expect.stringContaining('make the folder writable')]);
  } finally {
    makeWritable();
  }
  await expectIntact();
});

describe('an access file that is rubbish', () => {
  const spoil = () => writeFileSync(inFolder('access.json'), rubbish);
  const refusal = { code: 3, wrong: 'access.json is damaged', todo: 'end the controller that runs here' };

  it('is said at once to whoever would join the controller that runs, which goes on', async () => {
    const first = await startRun();
    spoil();
    const holder = `is in use by process ${first.pid} on `;
    for (const args of [run, ['ls']]) await expectRefusal(args, { ...refusal, wrong: holder });
    await expectRefusal(['submit', 'true', '--array', '1'], refusal);
    await expectRefusal(['server'], { code: 4, wrong: holder, todo: '--dir' });
    writeFileSync(file('go'), '');
    expect((await first.ended).code).toBe(0);
    expect(await here.json(['show', 'w2', '--json'])).toMatchObject({ state: 'done' });
    await expectIntact();
  });

  it('and of a controller that is gone only matters to those who start none', async () => {
    spoil();
    await expectRefusal(['server', 'status'], refusal);
    await expectIntact();
    expect((await here.run(run)).code).toBe(0);
  });
});

it('tokens that are rubbish are made anew', async () => {
  writeFileSync(inFolder('tokens.json'), rubbish);
  expect((await here.run(run)).code).toBe(0);
  expect(Object.keys(JSON.parse(readFileSync(inFolder('tokens.json'), 'utf8')))).toEqual(['admin', 'worker']);
  await expectIntact();
});

describe('what another one has already', () => {
  it('the folder of a run is refused to a server, and joined by a run', async () => {
    const first = await startRun();
    const refusal = { code: 4, wrong: `${file('.drover')} is in use by process ${first.pid} on `, todo: '--dir' };
    for (const args of [['server'], ['server', '--detach']]) await expectRefusal(args, refusal);
    expect(lastJson((await here.run([...run, '--json'])).stdout)).toMatchObject({ id: 'w3', state: 'done' });
    writeFileSync(file('go'), '');
    expect((await first.ended).code).toBe(0);
  });
});

describe('an address can not be listened on', () => {
  it.each([
    ['that no machine has', 'no-such-host.invalid:7070', /no such host is known|can not be looked up/],
    ['that another machine has', '192.0.2.1:7070', /this machine has no such address/],
  ])('%s', async (_, address, why) => {
    const { code, stdout, stderr } = await here.run(['server', '--listen', address]);
    expect([code, stdout]).toEqual([4, '']);
    expect(stderr).toContain(`drover: can't listen on ${address}: `);
    expect(stderr).toMatch(why);
    expect(stderr).toContain('\n  choose another address or port with --listen\n');
    await expectIntact();
  });

  it('that is for root', async ({ skip }) => {
    const asUser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set', '-net_bind_service'] : ['env'];
    const first = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
    if (first <= 80 || !isPossible([...asUser, 'true'])) return skip('everybody may use any port here');
    const drover = join(import.meta.dirname, '..', '..', 'drover');
    const typed = [...asUser, drover, 'server', '--listen', '127.0.0.1:80'].join(' ');
    const shell = `${typed}; echo $?`;
    const said = execFileSync('sh', ['-c', `{ ${shell}; } 2>&1`], { cwd: here.path, encoding: 'utf8' });
    expect(said).toBe(
      "drover: can't listen on 127.0.0.1:80: ports below 1024 are for root\n  choose another address or port with --listen\n4\n",
    );
  });
});

function isPossible([program = '', ...args]: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

it('a worker directory that is never given up ends the run, which goes on when it is resumed', async () => {
  const { code, stdout, stderr } = await stuck.ended;
  expect([code, stdout]).toEqual([4, '']);
  expect(stderr).toContain(`another worker holds ${stuck.lock}, and does not end\n  end the process`);
  stuck.holder.kill('SIGKILL');
  expect((await stuck.place.run(['resume'])).code).toBe(0);
}, 60_000);
