import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** These wait for most of their time, for leases and deadlines of the real program to pass: they do so side by side. */
const patient = ['example-workers', 'killed-worker', 'restart', 'server', 'sick-workers', 'tokens', 'workers'].map(
  (name) => `test/program/${name}.test.ts`,
);

export default defineConfig({
  test: {
    environment: 'node',
    pool: 'forks',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    globalSetup: ['test/set-up/global.ts'],
    reporters: ['default', './test/set-up/totals.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'patient', include: patient, maxWorkers: 4, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'others',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'sim/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: patient,
          // Many of them wait, too: also where there are two cores it is two at a time.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
