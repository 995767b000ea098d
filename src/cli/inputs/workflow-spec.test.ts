import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryEnvironment } from '../environment.testing.ts';
import { workflowSpecOf } from './workflow-spec.ts';

let env: MemoryEnvironment;

beforeEach(() => {
  env = new MemoryEnvironment();
});

it('has defaults for everything', () => {
  expect(workflowSpecOf(env, {})).toEqual({
    cwd: '/me',
    shell: '/bin/bash',
    env: { PATH: '/bin', HOME: '/me', PWD: '/me' },
    maxAttempts: 1,
    terminationMs: 3_000,
    failFast: false,
    open: false,
  });
});

it('takes what the options say, with absolute paths', () => {
  env.directories.add('/me/sub');
  env.files.set('/me/in', '');
  const options = {
    name: 'n',
    cwd: 'sub',
    retries: 2,
    timeout: 5,
    termGrace: 0,
    failFast: true,
    output: '../o',
    stdin: 'in',
  };
  expect(workflowSpecOf(env, options)).toMatchObject({
    name: 'n',
    cwd: '/me/sub',
    env: { PWD: '/me/sub' },
    maxAttempts: 3,
    timeoutMs: 5,
    terminationMs: 0,
    failFast: true,
    outputDir: '/o',
    stdin: '/me/in',
  });
});

it.each([
  ['--cwd: no such directory: nowhere', { cwd: 'nowhere' }],
  ['--cwd: file is not a directory', { cwd: 'file' }],
  ['--stdin: no such file: nowhere', { stdin: 'nowhere' }],
  ['--stdin: . is a directory', { stdin: '.' }],
  ['--output: file is not a directory', { output: 'file' }],
  ['--name has 1 to 200 bytes, not 0', { name: '' }],
  ['--name has 1 to 200 bytes, not 202', { name: 'é'.repeat(101) }],
])('refuses what can not be: %s', (message, options) => {
  env.files.set('/me/file', '');
  expect(() => workflowSpecOf(env, options)).toThrow(message);
});

describe('the shell', () => {
  it('is bash where it exists, else sh', () => {
    env.executables.delete('/bin/bash');
    expect(workflowSpecOf(env, {}).shell).toBe('/bin/sh');
  });

  it('is looked up in the order of PATH, and relative to here', () => {
    env.variables.PATH = '/opt/bin:/bin';
    env.executables.add('/opt/bin/zsh').add('/me/my-shell');
    expect(workflowSpecOf(env, { shell: 'zsh' }).shell).toBe('/opt/bin/zsh');
    expect(workflowSpecOf(env, { shell: './my-shell' }).shell).toBe('/me/my-shell');
  });

  it('must exist', () => {
    expect(() => workflowSpecOf(env, { shell: 'fish' })).toThrow('fish');
    expect(() => workflowSpecOf(env, { shell: '/bin/fish' })).toThrow('/bin/fish');
  });
});

describe('the environment', () => {
  it("is the submitter's, without what is the shell's or Drover's own", () => {
    Object.assign(env.variables, {
      A: '1',
      DROVER_DIR: '/d',
      DROVER_TASK_ID: 'w1.1',
      SHLVL: '3',
      _: '/bin/x',
      OLDPWD: '/',
    });
    expect(workflowSpecOf(env, {}).env).toEqual({ A: '1', PATH: '/bin', HOME: '/me', PWD: '/me' });
  });

  it('is changed by --env, which takes a bare name from here', () => {
    Object.assign(env.variables, { A: '1', DROVER_X: 'x' });
    const spec = workflowSpecOf(env, { env: ['A=2=3', 'B=', 'DROVER_X'] });
    expect(spec.env).toMatchObject({ A: '2=3', B: '', DROVER_X: 'x' });
  });

  it.each([
    ['NONE', 'there is no such variable here'],
    ['toString', 'there is no such variable here'],
    ['=x', 'the name is empty'],
    ['', 'the name is empty'],
  ])('refuses --env %j', (entry, why) => {
    expect(() => workflowSpecOf(env, { env: [entry] })).toThrow(`--env '${entry}': ${why}`);
  });

  it('has a limit, and the error names the largest variable', () => {
    env.variables.HUGE = 'x'.repeat(2 ** 20);
    expect(() => workflowSpecOf(env, {})).toThrow(
      expect.objectContaining({ code: 'too-large', hint: expect.stringContaining('HUGE') }),
    );
  });
});
