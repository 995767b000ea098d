/** The `drover` command line. What it needs for `--help` is loaded at once, the rest when a command runs. */
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

const programsOf = (version: string): Programs => ({
  openSession: async (options) => (await import('./session.ts')).sessionOpener(version, onFatal)(options),
  serve: async (options, onReady) => (await import('./serve.ts')).serve(version, options, onReady, onFatal),
  serveDetached: async (options) => (await import('./serve.ts')).serveDetached(options),
  work: async (options, onReady) => (await import('./work.ts')).work(options, onReady),
});

function environmentOf(version: string): NodeCliEnvironment {
  try {
    return new NodeCliEnvironment(version);
  } catch (error) {
    return onFatal(error);
  }
}

/** Returns the exit code. */
export const runCommand = (args: readonly string[], version: string): Promise<number> =>
  runCli(args, environmentOf(version), programsOf(version));
