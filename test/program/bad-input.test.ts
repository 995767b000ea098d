/**
 * What users may get wrong in what they type, or in the file that they name. All of it happens in one folder with an
 * earlier workflow and a server, whose last test looks whether anything of it has left a trace.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandBytesMax } from '../../src/model/limits.ts';
import { type Ended, lastJson, type Place, place, type Running, until } from './drover.ts';

let here: Place;
let server: Running;

const file = (name: string): string => join(here.path, name);

beforeAll(async () => {
  here = place();
  await here.run(['run', '-q', 'echo kept {}', ':::', '1']);
  mkdirSync(file('folder'));
  for (const [name, content] of Object.entries(files)) writeFileSync(file(name), content);
  server = here.start(['server', '--json']);
  await until('the server is ready', () => server.stdout().includes('\n'));
});

afterAll(async () => {
  server.child.kill('SIGTERM');
  await server.ended;
  here.remove();
});

const files: Readonly<Record<string, string | Uint8Array>> = {
  good: 'echo good\n',
  binary: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0xff, 0xfe, 0x00, 0x0a, 0x80]),
  nul: 'echo a\0b\n',
  'too-long': `echo 1\n${'x'.repeat(commandBytesMax + 1)}\n`,
  directive: 'echo 1\n#DROVER REPEAT 5\n',
};

/** One line that says what is wrong, one that says what to do, and nothing else. */
function expectRefusal({ code, stdout, stderr }: Ended, wrong: string, todo: string): void {
  const [first, second, ...rest] = stderr.split('\n');
  expect({ code, stdout, rest }).toEqual({ code: 2, stdout: '', rest: [''] });
  expect(first).toContain(`drover: ${wrong}`);
  expect(second).toMatch(/^ {2}\S/);
  expect(second).toContain(todo);
}

describe('a command line is refused, with what to type instead:', () => {
  it.each([
    [['rum'], "unknown command 'rum'", "did you mean run? see 'drover --help'"],
    [['--nope'], "unknown option '--nope'", "see 'drover --help'"],
    [['run', '--retry', '1', 'good'], "unknown option '--retry'", '--retries? see'],
    [['show'], "missing required argument 'id'", "see 'drover show --help'"],
    [['ls', 'w1'], "too many arguments for 'ls'", "see 'drover ls --help'"],
    [['ls', ':::', 'a'], "':::' begins values for 'drover run' and 'drover submit' only", 'drover run --help'],
    [['run', '--array'], "option '--array <range>' argument missing", 'drover run --help'],
    [['run', '-j', '0', 'good'], "option '-j, --slots <n>' argument '0' is invalid. It is a whole number", '--help'],
    [['run', '--retries', '1.5', 'good'], "option '--retries <n>' argument '1.5' is invalid.", '--help'],
    [['run', '--timeout', 'soon', 'good'], "option '--timeout <time>' argument 'soon' is invalid.", '--help'],
    [['ls', '--dir', ''], "option '--dir <dir>' argument '' is invalid. It is empty", '--help'],
    [['show', 'x'], "'x' names no workflow or task", 'w3.14'],
    [['show', 'w9'], 'there is no workflow w9', "'drover ls'"],
    [['cancel', 'w1.9'], 'there is no task w1.9', "'drover ls'"],
    [['logs'], 'no task is named', 'drover logs w3.7'],
    [['logs', 'w1.1', '--grep', '('], "'(' is no regular expression", 'correct the input'],
    [['logs', 'w1.1', '--attempt', '9'], 'w1.1 has no attempt 9', "'drover show TASK'"],
    [['show', 'w1', '--state', 'bad'], "--state: 'bad' is not a state of a task", 'running'],
    [['server', '--listen', ':99999'], "':99999' is not an address to listen on", '127.0.0.1:7070'],
  ])('%j', async (args, wrong, todo) => {
    expectRefusal(await here.run(args), wrong, todo);
  });

  it('also one with a name that is not UTF-8, which tasks would see changed', async () => {
    const drover = join(import.meta.dirname, '..', '..', 'drover');
    const typed = `"$0" run cat ::: "$(printf 'caf\\351')"`;
    const ended = await new Promise<Ended>((done) => {
      const child = execFile('sh', ['-c', typed, drover], { cwd: here.path }, (_, stdout, stderr) =>
        done({ code: child.exitCode, stdout, stderr }),
      );
    });
    expectRefusal(ended, "'caf\ufffd' is not UTF-8", 'rename it');
  });
});

describe.each(['run', 'submit'])('%s refuses', (command) => {
  it.each([
    ['nothing at all', [], 'there is nothing to run', 'name a file'],
    ['an empty name', [''], 'the name of the task file is empty', 'name a file'],
    ['a missing file', ['ls -l'], 'no such file: ls -l', `echo 'ls -l' | drover ${command} -`],
    ['a directory', ['folder'], 'folder is a directory', 'name a file'],
    ['what can not be read', ['/proc/self/mem'], "can't read /proc/self/mem: EIO", 'name a file that you may read'],
    ['two files', ['good', 'nul'], 'one argument was expected, not 2', `cat good nul | drover ${command} -`],
    ['binary rubbish', ['binary'], 'binary, line 1: not UTF-8', 'is this the right file?'],
    ['a NUL byte', ['nul'], 'nul, line 1: has a NUL byte', 'is this the right file?'],
    ['a line over the limit', ['too-long'], 'too-long, line 2: longer than 1.0 MiB', 'put the command into a script'],
    ['an unknown directive', ['directive'], "directive, line 2: unknown directive '#DROVER REPEAT 5'", 'known are'],
    ['words without quotes', ['echo', 'a', ':::', 'b'], 'one argument was expected', `drover ${command} 'echo a' …`],
    ['an empty command', ['', ':::', 'a'], 'there is no command', "'cmd {}' ::: a b c"],
    ['a placeholder without values', ['echo {2}', ':::', 'a'], 'the placeholder {2} has no value', '{} and {#}'],
    ['a placeholder in backquotes', ['a `b {}`', ':::', 'c'], "the placeholder {} can't stand in back", 'write $(…)'],
    ['an open quote', ["echo 'a", ':::', 'b'], "no value can be appended to echo 'a", 'write {}'],
    ['a range that is none', ['--array', '9-1', 'true'], "--array 9-1: '9-1' is not a range", 'write 1-100'],
    ['two kinds of values', ['--array', '1', 'a', ':::', 'b'], '--array and ::: exclude each other', '$(seq 10)'],
    ['a variable without a name', ['--env', '=x', 'good'], "--env '=x': the name is empty", '--env NAME=VALUE'],
    ['a missing --cwd', ['--cwd', 'none', 'good'], '--cwd: no such directory: none', 'make it first'],
    ['a --cwd that is a file', ['--cwd', 'good', 'good'], '--cwd: good is not a directory', 'where tasks run'],
    ['an --output that is a file', ['--output', 'good', 'good'], '--output: good is not a directory', 'name a dir'],
    ['a missing --stdin', ['--stdin', 'none', 'good'], '--stdin: no such file: none', 'name a file'],
    ['a missing shell', ['--shell', 'no-such-shell', 'good'], 'no shell: no-such-shell is not an', '--shell /bin/sh'],
    ['a shell that is no program', ['--shell', './good', 'good'], 'no shell: ./good is not an', '--shell /bin/sh'],
    ['an empty --name', ['--name', '', 'good'], '--name has 1 to 200 bytes, not 0', 'label'],
  ])('%s', async (_, args, wrong, todo) => {
    expectRefusal(await here.run([command, ...args]), wrong, todo);
  });

  it('rubbish on standard input', async () => {
    const ended = await here.run([command, '-'], { input: 'echo 1\n\0\n' });
    expectRefusal(ended, 'stdin, line 2: has a NUL byte', 'is this the right file?');
  });
});

it.each([
  [['run', '--json', 'ls -l'], 'bad-input'],
  [['submit', '--json', 'too-long'], 'too-large'],
  [['show', '--json', 'x'], 'bad-reference'],
  [['ls', '--json', '--nope'], 'bad-input'],
])('%j says it as one line of JSON, and to people as well', async (args, errorCode) => {
  const { code, stdout, stderr } = await here.run(args);
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string; hint: string } };
  expect([code, error.code]).toEqual([2, errorCode]);
  expect(stderr).toBe(`drover: ${error.message}\n  ${error.hint}\n`);
});

it('what was refused has left no trace, and what was there before is as it was', async () => {
  expect((await here.run(['ls', '--json'])).stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(await here.json(['show', 'w1', '--json'])).toMatchObject({ state: 'done', counts: { total: 1, done: 1 } });
  expect((await here.run(['logs', 'w1.1'])).stdout).toBe('kept 1\n');
});

it('submit takes lines that end with CRLF or not at all as they are meant, and says when there is none', async () => {
  expect(await here.run(['submit', '-'], { input: 'echo a\r\necho b' })).toEqual({
    code: 0,
    stdout: 'w2\n',
    stderr: '',
  });
  const { tasks } = (await here.json(['show', 'w2', '--json'])) as { tasks: { command: string }[] };
  expect(tasks.map(({ command }) => command)).toEqual(['echo a', 'echo b']);
  const empty = await here.run(['submit', '-']);
  expect(empty).toMatchObject({ code: 0, stdout: 'w3\n', stderr: expect.stringContaining('drover: no task: stdin') });
});

describe('without a server, where tasks run,', () => {
  let alone: Place;
  beforeAll(() => {
    alone = place();
  });
  afterAll(() => alone.remove());

  const longest = `: ${'x'.repeat(commandBytesMax - ': ; echo end'.length)}; echo end`;

  it.each([
    ['lines that end with CRLF', 'echo "a"\r\necho b\r\n', 'a\nb\n'],
    ['a last line without its end', 'echo a\necho b', 'a\nb\n'],
    ['a mark of the byte order', '\ufeffecho a\n', 'a\n'],
    ['a line of 1 MiB', longest, 'end\n'],
  ])('%s is taken as it is meant', async (_, input, stdout) => {
    expect(await alone.run(['run', '-'], { input })).toMatchObject({ code: 0, stdout });
  });

  it.each([
    [['-'], 'no task: stdin has no line with a command'],
    [['echo {}', ':::'], "no task: a list of values after ':::' is empty"],
  ])('%j is no error, but it is said that there is no task', async (args, why) => {
    const { code, stdout, stderr } = await alone.run(['run', '--json', ...args], { input: '\n# nothing\n' });
    expect([code, stderr]).toEqual([0, expect.stringContaining(`drover: ${why}`)]);
    expect(lastJson(stdout)).toMatchObject({ state: 'done', total: 0 });
  });

  it('a barrier that is written as a comment is none, and that is said', async () => {
    const { code, stderr } = await alone.run(['run', '-'], { input: 'true\n# DROVER BARRIER\ntrue\n' });
    expect([code, stderr]).toEqual([0, expect.stringContaining("a barrier is written '#DROVER BARRIER'")]);
  });

  it('a command that is not found, or no program, fails with what the shell says, and the next lines to type', async () => {
    const input = 'no-such-command\n/dev/null\n#DROVER BARRIER CHECK\necho never\n';
    const { code, stdout, stderr } = await alone.run(['run', '-'], { input });
    expect([code, stdout]).toEqual([1, '']);
    for (const text of ['1 × exit 127', 'no-such-command: ', '1 × exit 126', '/dev/null: ', '--- barrier ---']) {
      expect(stderr).toContain(text);
    }
    expect(stderr).toMatch(/look: {4}drover logs w\d+\.[12] --stderr\n {2}rerun: {3}drover resume w\d+\n/);
  });

  it('a shell that can not be started fails the task, says which one, and does not speak of output', async () => {
    writeFileSync(join(alone.path, 'shell'), '#!/no/such/interpreter\n', { mode: 0o755 });
    const { code, stdout, stderr } = await alone.run(['run', '--shell', './shell', 'echo {}', ':::', '1']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`not startable: the system refused to start ${join(alone.path, 'shell')} (ENOENT`);
    expect(stderr).toMatch(/look: {4}drover show w\d+ --state failed\n/);
  });
});
