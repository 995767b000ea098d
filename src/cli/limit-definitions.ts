/** `drover limit`, `drover concurrency` and `drover resources`. */
import type { Command } from 'commander';
import type { ConcurrencyOptions } from './commands/limit.ts';
import type { ResourcesOptions } from './commands/resources.ts';
import type { CommonOptions } from './context.ts';
import { concurrencyHelp, limitHelp, resourcesHelp } from './help.ts';
import { collect, dirOption, filled, type Given, jsonOption, type Perform } from './options.ts';

export function defineLimits(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('limit')
    .summary('see and set what all workflows share, such as licences')
    .description(
      'Limits how much of something that tasks ask for by name is in use at a time, in all workflows together.',
    )
    .usage('[options]\n       drover limit NAME [options]\n       drover limit NAME N|none [options]')
    .argument('[name]', 'as in the resources of tasks')
    .argument('[max]', "how much at a time, 0 to pause, or 'none'")
    .addOption(jsonOption('a limit a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', limitHelp)
    .action((name: string | undefined, max: string | undefined, options: CommonOptions) =>
      perform(async (context) => (await import('./commands/limit.ts')).limit(context, name, max, options)),
    );
  program
    .command('concurrency')
    .summary('see and set how many tasks of a workflow run at a time')
    .description('Limits how many tasks run at a time: of a workflow, of a template, of those with a tag.')
    .usage('ID [options]\n       drover concurrency ID [N|none] [--template NAME=N] [--tag NAME=VALUE=N]')
    .argument('<id>', 'a workflow')
    .argument('[max]', "how many of its tasks, 0 to pause, or 'none'")
    .option('--template <name=n>', 'how many of a template; may be repeated', collect)
    .option('--tag <name=value=n>', 'how many with a tag; may be repeated', collect)
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', concurrencyHelp)
    .action((id: string, max: string | undefined, options: ConcurrencyOptions) =>
      perform(async (context) => (await import('./commands/limit.ts')).concurrency(context, id, max, options)),
    );
  program
    .command('resources')
    .summary('see what tasks asked for and used, and what to ask for')
    .description(
      'Shows what the tasks of a workflow, or a task, asked for, used and got, and recommends what to ask for.',
    )
    .argument('<id>', 'a workflow or a task')
    .option('--write-yaml <file>', "write what is recommended, for 'run --resources'; '-' for stdout", filled)
    .addOption(jsonOption('a group of tasks a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', resourcesHelp)
    .action((id: string, options: ResourcesOptions) =>
      perform(async (context) => (await import('./commands/resources.ts')).resources(context, id, options)),
    );
}
