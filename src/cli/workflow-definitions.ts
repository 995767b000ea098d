/** The commands about whole workflows: their runs, and their graphs in and out. */
import type { Command } from 'commander';
import type { HaltOptions } from './commands/halt.ts';
import type { ResetOptions } from './commands/reset.ts';
import { dirOption, type Given, jsonOption, type Perform } from './options.ts';
import { haltHelp, resetHelp } from './workflow-help.ts';

export function defineWorkflowCommands(program: Command, given: Given, perform: Perform): void {
  defineHalt(program, given, perform);
  defineReset(program, given, perform);
}

function defineHalt(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('halt')
    .summary('stop a workflow for now')
    .description('Stops a workflow that a server or another command runs, and waits until it is halted.')
    .argument('<id>', 'a workflow')
    .option('--kill', 'end what runs now, instead of waiting for it')
    .option('--no-wait', 'return at once')
    .addOption(jsonOption('the workflow as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', haltHelp)
    .action((id: string, options: HaltOptions) =>
      perform(async (context) => (await import('./commands/halt.ts')).halt(context, id, options)),
    );
}

function defineReset(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('reset')
    .summary('let the tasks of a workflow begin anew')
    .description('Lets the tasks of a workflow that are not done begin anew, as if they had never been tried.')
    .argument('<id>', 'a workflow')
    .option('--all', 'done tasks, too')
    .addOption(jsonOption('the workflow as one JSON object, with how many were reset'))
    .addOption(dirOption(env))
    .addHelpText('after', resetHelp)
    .action((id: string, options: ResetOptions) =>
      perform(async (context) => (await import('./commands/reset.ts')).reset(context, id, options)),
    );
}
