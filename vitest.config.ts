import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'sim/**/*.test.ts', 'bench/**/*.test.ts'],
    environment: 'node',
    pool: 'forks',
    execArgv: ['--disable-warning=ExperimentalWarning'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    globalSetup: ['test/set-up/global.ts'],
    reporters: ['default', './test/set-up/totals.ts'],
  },
});
