import { describe, expect, it } from 'vitest';
import { NodeCliEnvironment } from './cli-environment.ts';

const env = new NodeCliEnvironment('1.2.3');

describe('a line that is run by the shell', () => {
  it.each([
    ['exit $CODE', { CODE: '3' }, 3],
    ['kill -9 $$', {}, 137],
    ['true', { NAME: 'a\0b' }, 127],
  ])('%s gives what a shell gives, and never throws', async (line, variables, code) => {
    expect(await env.runShell(line, variables, 10_000)).toBe(code);
  });

  it('is ended with all that it started when it takes too long, also one that does not listen', async () => {
    expect(await env.runShell("trap '' TERM INT; while :; do sleep 97.5; done", {}, 50)).toBe('too-long');
  });
});

describe('a file that can not be written', () => {
  it.each([
    ['/dev/null/x', 'ENOTDIR', 'name another file'],
    ['/nowhere-at-all/x', 'ENOENT', 'make its folder first, or name another file'],
    ['/dev/full', 'ENOSPC', 'make room, or name another file'],
  ])('%s fails with what helps', async (path, why, hint) => {
    await expect(env.writeFile(path, ['text'])).rejects.toMatchObject({
      message: `${path} can't be written: ${why}`,
      hint,
    });
  });
});
