/** The commands that explain tasks, and sum up many of them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { FailuresOptions } from './commands/failures.ts';
import type { ReportOptions } from './commands/report.ts';
import type { StatsOptions } from './commands/stats.ts';
import type { CommonOptions } from './context.ts';
import { failuresHelp, reportHelp, statsHelp, whyHelp } from './help.ts';
import { dirOption, filled, type Given, jsonOption, type Perform, whereOption } from './options.ts';

function grouping(text: string): string {
  if (/^(template|worker|host|tag|tag:.+)$/.test(text)) return text;
  throw new InvalidArgumentError('It is template, worker, host, tag or tag:NAME.');
}

export function defineInsights(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('stats')
    .summary('sum up tasks: states, rates, times, memory, and what to ask for')
    .description('Sums up the tasks of a workflow, or of all workflows.')
    .argument('[id]', 'a workflow (default: all of them)')
    .option('--by <group>', 'also by template, worker, host, tag or tag:NAME', grouping)
    .addOption(whereOption('only tasks that match'))
    .addOption(
      new Option('--interval <unit>', 'of rates (default: what fits)').choices(['second', 'minute', 'hour'] as const),
    )
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', statsHelp)
    .action((id: string | undefined, options: StatsOptions) =>
      perform(async (context) => (await import('./commands/stats.ts')).stats(context, id, options)),
    );
  program
    .command('failures')
    .summary('group what failed by why, with the command that tries it again')
    .description('Groups the failed tasks of a workflow by cause and by what they wrote last, the largest group first.')
    .argument('[id]', 'a workflow (default: the newest that has failed tasks)')
    .addOption(new Option('--by <what>', 'tell groups apart by host, too').choices(['host'] as const))
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', failuresHelp)
    .action((id: string | undefined, options: FailuresOptions) =>
      perform(async (context) => (await import('./commands/failures.ts')).failures(context, id, options)),
    );
  program
    .command('report')
    .summary('write a page about a run: timeline, usage, failures')
    .description(
      'Writes one HTML page about a workflow, that needs nothing else: to look at, to keep, to send to others.',
    )
    .argument('[id]', 'a workflow (default: the newest)')
    .option('-o, --output <file>', "write it there; '-': to stdout (default: report-ID.html)", filled)
    .option('--force', 'replace a file that is no report')
    .option('--open', 'show it in the browser')
    .addOption(jsonOption('its data as one JSON object instead, to stdout unless -o says otherwise'))
    .addOption(dirOption(env))
    .addHelpText('after', reportHelp)
    .action((id: string | undefined, options: ReportOptions) =>
      perform(async (context) => (await import('./commands/report.ts')).report(context, id, options)),
    );
  program
    .command('why')
    .summary('tell what a task or workflow waits for, and what to do about it')
    .description('Tells what a task waits for, or what the tasks of a workflow wait for.')
    .argument('<id>', 'a task or a workflow')
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', whyHelp)
    .action((id: string, options: CommonOptions) =>
      perform(async (context) => (await import('./commands/why.ts')).why(context, id, options)),
    );
}
