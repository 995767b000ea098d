/** A workflow without anything special. */
import type { WorkflowSpec } from '../../src/protocol/spec.ts';

export const plainSpec: WorkflowSpec = {
  cwd: '/',
  shell: '/bin/sh',
  env: {},
  maxAttempts: 1,
  terminationMs: 1_000,
  failFast: false,
  open: false,
};
