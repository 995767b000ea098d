/** What the command line does by itself: help, refusals, a dry run, bugs. There is no controller, and none is needed. */
import { beforeEach, expect, it } from 'vitest';
import { CliBench, noPrograms } from './bench.testing.ts';
import { runCli } from './program.ts';

let bench: CliBench;

beforeEach(() => {
  bench = new CliBench({ url: 'http://127.0.0.1:9', token: '' });
});

const commands = [
  'run',
  'resume',
  'ls',
  'show',
  'logs',
  'watch',
  'cancel',
  'submit',
  'wait',
  'retry',
  'server',
  'worker',
  'workers',
  'token',
  'halt',
  'reset',
  'import',
  'export',
  'graph',
  'close',
  'schema',
];

it.each(commands)('has help with an example for %s', async (command) => {
  expect(await bench.drover(command, '--help')).toBe(0);
  expect(bench.env.stdout.text).toMatch(new RegExp(`Examples?:\\n(.*\\n)*.*drover ${command}`));
  expect(bench.env.stdout.lines.every((line) => line.length <= 110)).toBe(true);
  expect(bench.env.stderr.text).toBe('');
});

it('has help and a version, and needs no controller for them', async () => {
  expect(await bench.drover('--help')).toBe(0);
  expect(bench.env.stdout.text).toContain('drover run tasks.txt');
  expect(await bench.drover('--version')).toBe(0);
  expect(bench.env.stdout.lines.at(-1)).toBe('1.2.3');
  expect(await bench.drover()).toBe(2);
  expect(bench.env.stderr.text).toContain('Usage: drover');
  expect(bench.opened).toEqual([]);
});

it.each([
  [['rum'], "unknown command 'rum'", "did you mean run? see 'drover --help'"],
  [['run', '--retry', '1', 'x'], "unknown option '--retry'", "--retries? see 'drover run --help'"],
  [
    ['run', '-j', '0', 'x'],
    "option '-j, --slots <n>' argument '0' is invalid. It is a whole number, 1 to 4096.",
    'drover run --help',
  ],
  [['run', '--timeout', 'soon', 'x'], "option '--timeout <time>' argument 'soon' is invalid.", '--help'],
  [['show'], "missing required argument 'id'", 'drover show --help'],
  [['server', 'restart'], "command-argument value 'restart' is invalid for argument 'action'.", 'drover server --help'],
  [['server', 'stop', '--detach'], '--detach is for a start, not for stop', 'leave it away'],
  [['retry', 'w3'], 'w3 is a workflow: say which of its tasks', 'drover retry w3 --failed'],
  [['retry', 'w3.1', '--failed'], '--failed is for workflows, and w3.1 is a task', 'drover retry w3.1'],
  [['wait', 'w3.1'], 'w3.1 is a task', 'name its workflow: w3'],
  [['submit'], 'there is nothing to run', 'name a file'],
  [['submit', 'a b'], 'no such file: a b', "echo 'a b' | drover submit -"],
  [['submit', 'a', 'b'], 'one argument was expected, not 2', 'cat a b | drover submit -'],
  [['submit', 'echo', 'hi', ':::', 'x'], 'one argument was expected, not 2', "drover submit 'echo hi' …"],
  [['ls', '--dir', ''], "option '--dir <dir>' argument '' is invalid. It is empty", 'drover ls --help'],
  [['run', '--cwd', '', 'a'], "option '--cwd <dir>' argument '' is invalid. It is empty", 'drover run --help'],
  [['worker', '--access', ''], "option '--access <file>' argument '' is invalid.", 'drover worker --help'],
  [['run', 'cat {}', ':::', 'caf\ufffd'], "'caf\ufffd' is not UTF-8", 'rename it'],
  [['wait', 'w3', ':::', 'a'], "':::' begins values for 'drover run' and 'drover submit' only", 'drover run --help'],
  [['help', 'rum'], "unknown command 'rum'", "see 'drover --help'"],
  [['ls', 'w1'], "too many arguments for 'ls'", 'drover ls --help'],
])('refuses %j', async (argv, message, hint) => {
  expect(await bench.drover(...argv)).toBe(2);
  expect(bench.env.stderr.text).toContain(`drover: ${message}`);
  expect(bench.env.stderr.text).toContain(hint);
});

it.each([
  [['sleep 5'], 'no such file: sleep 5', "echo 'sleep 5' | drover run -"],
  [['.'], '. is a directory', 'name a file'],
  [[], 'there is nothing to run', 'name a file'],
  [[''], 'the name of the task file is empty', 'name a file'],
  [['a', 'b'], 'one argument was expected, not 2', 'cat a b | drover run -'],
  [['echo', 'hi', ':::', 'x'], 'one argument was expected, not 2', "drover run 'echo hi' …"],
  [['echo', '--array', '1-3', ':::', 'x'], '--array and ::: exclude each other', 'seq'],
  [['echo {2}', ':::', 'x'], 'the placeholder {2} has no value', 'one list'],
])('refuses to run %j and says what to do', async (argv, message, hint) => {
  bench.env.directories.add('/me');
  expect(await bench.drover('run', ...argv)).toBe(2);
  expect(bench.env.stderr.text).toContain(`drover: ${message}\n`);
  expect(bench.env.stderr.text).toContain(hint);
  expect(bench.opened).toEqual([]);
});

it('shows with --dry-run what it would run, and runs nothing', async () => {
  const { env } = bench;
  env.files.set('/me/a', 'echo 1\n#DROVER BARRIER CHECK\necho 2\n');
  expect(await bench.drover('run', '--dry-run', 'a')).toBe(0);
  expect(env.stdout.text).toBe('     1  echo 1\n     2  --- barrier, if all before it succeeded ---\n     3  echo 2\n');
  expect(env.stderr.text).toBe('2 tasks, 1 barrier; nothing was run\n');
  expect(bench.opened).toEqual([]);
  await bench.drover('run', '--dry-run', '--json', 'x', '--array', '5');
  expect(bench.lastJson()).toEqual({ dryRun: true, total: 1, barriers: 0 });
});

it.each([
  [['a'], 'no task: a has no line with a command'],
  [['echo {}', ':::'], "no task: a list of values after ':::' is empty"],
])('says why there is no task in %j', async (argv, why) => {
  bench.env.files.set('/me/a', '\n# nothing\n');
  expect(await bench.drover('run', '--dry-run', ...argv)).toBe(0);
  expect(bench.env.stderr.text).toContain(`drover: ${why}`);
});

it('says which variable tasks do not see as it is', async () => {
  bench.env.variables.NAME = 'caf\ufffd';
  await bench.drover('run', '--dry-run', 'x', '--array', '1');
  expect(bench.env.stderr.text).toContain('drover: tasks see the variable NAME changed: it is not UTF-8\n');
});

it('says a usage error in JSON where that is wanted', async () => {
  expect(await bench.drover('run', '--json', '--nope')).toBe(2);
  expect(bench.lastJson()).toMatchObject({ error: { code: 'bad-input', message: "unknown option '--nope'" } });
});

it('calls an error of its own a bug, with what to report', async () => {
  const broken = () => Promise.reject(new TypeError('x is not a function'));
  expect(await runCli(['ls', '--json'], bench.env, { ...noPrograms, openSession: broken })).toBe(70);
  expect(bench.env.stderr.text).toContain('drover: this is a bug in Drover: x is not a function\n');
  expect(bench.env.stderr.text).toContain('drover 1.2.3, node v');
  expect(bench.env.stderr.text).toContain('program.test.ts');
  expect(bench.lastJson()).toMatchObject({ error: { code: 'bug', message: 'x is not a function' } });
});
