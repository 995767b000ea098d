import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { StartTask } from '../protocol/spawner.ts';
import { launchFailure } from './failure.ts';

const task: StartTask = {
  t: 'start',
  key: 1,
  env: 1,
  vars: [],
  command: 'true',
  shell: '/bin/sh',
  cwd: '/',
  stdout: { path: '/dev/null', mode: 'reuse' },
  stderr: { path: '/dev/null', mode: 'reuse' },
};

describe('a start that the kernel refused', () => {
  it.each(['EAGAIN', 'EWOULDBLOCK', 'ENOMEM'] as const)('with %s may succeed later', (name) => {
    const { failure } = launchFailure(task, constants.errno[name]);
    expect(failure).toMatchObject({ code: 'no-resources', permanent: false });
  });
});
