#!/usr/bin/env node
import packageFile from '../../package.json' with { type: 'json' };
/** The `drover` command. What it needs for `--help` and `--version` is loaded at once, the rest when a command runs. */
import { bugObject, errorObject } from '../cli/failure.ts';
import { runCli } from '../cli/program.ts';
import type { Programs } from '../cli/programs.ts';
import { DroverError, exitCodes } from '../model/errors.ts';
import { NodeCliEnvironment } from '../platform/node/cli-environment.ts';

/** The controller or the worker that this process hosts can't go on: what is acknowledged is safe, so end at once. */
function onFatal(error: unknown): never {
  const known = error instanceof DroverError ? error : undefined;
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify(known === undefined ? bugObject(error) : errorObject(known))}\n`);
  }
  process.stderr.write(`\ndrover: ${known?.message ?? (error instanceof Error ? error.stack : String(error))}\n`);
  if (known !== undefined) process.stderr.write(`  ${known.hint}\n`);
  process.exit(known?.exitCode ?? exitCodes.bug);
}

const { version } = packageFile;
const programs: Programs = {
  openSession: async (options) => (await import('./session.ts')).sessionOpener(version, onFatal)(options),
  serve: async (options, onReady) => (await import('./serve.ts')).serve(version, options, onReady, onFatal),
  serveDetached: async (options) => (await import('./serve.ts')).serveDetached(options),
  work: async (options, onReady) => (await import('./work.ts')).work(options, onReady),
};
function environment(): NodeCliEnvironment {
  try {
    return new NodeCliEnvironment(version);
  } catch (error) {
    return onFatal(error);
  }
}

// Not just the exit code: a terminal that is still being read from would keep the process.
process.exit(await runCli(process.argv.slice(2), environment(), programs));
