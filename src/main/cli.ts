#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import packageFile from '../../package.json' with { type: 'json' };

/** The `drover` command: asked for its version alone, it loads nothing else. */
const args = process.argv.slice(2);
if (args.length === 1 && args[0] === '--version') process.stdout.write(`${packageFile.version}\n`);
else {
  enableCompileCache();
  const { runCommand } = await import('./command.ts');
  // Not just the exit code: a terminal that is still being read from would keep the process.
  process.exit(await runCommand(args, packageFile.version));
}
