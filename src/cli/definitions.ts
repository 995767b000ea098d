/** The commands, their options and their help. */
import { type Command, Option } from 'commander';
import { priorityMax, searchLimits } from '../model/limits.ts';
import type { CancelOptions } from './commands/cancel.ts';
import type { LogOptions } from './commands/logs.ts';
import type { ListOptions } from './commands/ls.ts';
import type { ResumeOptions } from './commands/resume.ts';
import type { RunOptions } from './commands/run.ts';
import type { ShowOptions } from './commands/show.ts';
import type { WatchOptions } from './commands/watch.ts';
import type { CommonOptions } from './context.ts';
import {
  cancelHelp,
  closeHelp,
  holdHelp,
  logsHelp,
  lsHelp,
  notifyHelp,
  priorityHelp,
  programHelp,
  releaseHelp,
  resumeHelp,
  runHelp,
  schemaHelp,
  showHelp,
  watchHelp,
} from './help.ts';
import { isFlow } from './inputs/flow-names.ts';
import { defineInsights } from './insight-definitions.ts';
import type { ManyOptions } from './many.ts';
import { addLocalNotifications, addOccasions, addWebhooks } from './notify.ts';
import {
  addFailureOptions,
  addInputs,
  bellOption,
  bulkDryRunOption,
  cursor,
  dirOption,
  filled,
  type Given,
  integer,
  jsonOption,
  type Perform,
  quietOption,
  signedInteger,
  slotsOption,
  whereOption,
} from './options.ts';
import { defineServerCommands } from './server-definitions.ts';
import { defineWorkflowCommands } from './workflow-definitions.ts';

export function defineCommands(program: Command, given: Given, perform: Perform): void {
  program
    .description('Runs herds of shell commands, many at a time, to a result that survives anything.')
    .addHelpText('after', programHelp);
  defineRun(program, given, perform);
  defineResume(program, given, perform);
  defineLs(program, given, perform);
  defineShow(program, given, perform);
  defineLogs(program, given, perform);
  defineWatch(program, given, perform);
  defineInsights(program, given, perform);
  defineCancel(program, given, perform);
  defineClose(program, given, perform);
  program
    .command('schema')
    .summary('print the JSON Schema of definitions')
    .description('Prints the JSON Schema by which definitions of workflows are checked, for editors.')
    .addHelpText('after', schemaHelp)
    .action(() => perform(async (context) => (await import('./commands/schema.ts')).printSchema(context)));
  defineSteering(program, given, perform);
  defineWorkflowCommands(program, given, perform);
  defineServerCommands(program, given, perform);
}

function defineRun(program: Command, { env, sources, commandLine }: Given, perform: Perform): void {
  const command = program
    .command('run')
    .summary('run the commands of a file, or one for each of many values')
    .description("Runs each line of FILE ('-': stdin), or 'cmd {}' for each value, as a task.")
    .addOption(slotsOption(env));
  addLocalNotifications(addWebhooks(addInputs(command)))
    .option('--server', 'only join a controller that is running: with none, run nothing')
    .addOption(quietOption())
    .addOption(jsonOption('progress and summary as JSON, an object a line'))
    .addOption(dirOption(env))
    .addHelpText('after', runHelp + notifyHelp)
    .action((words: string[], given: Omit<RunOptions, 'sources'>) =>
      perform(async (context) => {
        const options = { ...given, sources, commandLine };
        return isFlow(words, options)
          ? (await import('./commands/run-flow.ts')).runFlow(context, words, options)
          : (await import('./commands/run.ts')).run(context, words, options);
      }),
    );
}

function defineResume(program: Command, { env }: Given, perform: Perform): void {
  const command = program
    .command('resume')
    .summary('go on with a workflow that was interrupted or has failed')
    .description('Runs what an interruption left and repeats what failed; what is done stays done.')
    .argument('[id]', 'a workflow (default: the newest that is halted or has failed)')
    .addOption(new Option('--hot', 'take over what still runs of the last run (default)').conflicts('cold'))
    .addOption(new Option('--cold', 'wait first until nothing of the last run is left'))
    .option('--kill', 'with --cold: end what is left of it now')
    .addOption(slotsOption(env));
  addLocalNotifications(addOccasions(command))
    .addOption(quietOption())
    .addOption(jsonOption('progress and summary as JSON, an object a line'))
    .addOption(dirOption(env))
    .addHelpText('after', resumeHelp)
    .action((id: string | undefined, options: ResumeOptions) =>
      perform(async (context) => (await import('./commands/resume.ts')).resume(context, id, options)),
    );
}

function defineLs(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('ls')
    .summary('list workflows')
    .description('Lists workflows, the newest first.')
    .option('-n, --limit <n>', 'at most so many', integer(1), 20)
    .addOption(whereOption('only those that match'))
    .addOption(jsonOption('a workflow a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', lsHelp)
    .action((options: ListOptions) =>
      perform(async (context) => (await import('./commands/ls.ts')).ls(context, options)),
    );
}

function defineShow(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('show')
    .summary('show a workflow and its tasks, or a task and its attempts')
    .description('Shows a workflow with its tasks, or a task with its attempts: times, exits, CPU, peak memory.')
    .argument('<id>', 'a workflow or a task')
    .option('--state <list>', 'only tasks in these states, for example failed,running')
    .addOption(whereOption('only tasks that match'))
    .option('-n, --limit <n>', 'at most so many tasks', integer(1), 50)
    .option('--after <index>', 'only tasks beyond this one', integer(0))
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', showHelp)
    .action((id: string, options: ShowOptions) =>
      perform(async (context) => (await import('./commands/show.ts')).show(context, id, options)),
    );
}

function defineLogs(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('logs')
    .summary('print what tasks wrote, follow it, or search it')
    .description('Prints what a task wrote to stdout, byte for byte; of many tasks, line by line with their names.')
    .argument('[id...]', 'tasks, attempts of tasks, or workflows')
    .addOption(whereOption('of all tasks that match'))
    .option('--failed', 'only of tasks that failed')
    .option('-f, --follow', 'go on until the end, as it comes')
    .option('--stderr', 'what they wrote to stderr instead')
    .option('--both', 'what they wrote to either')
    .option('--tail <n>', 'only the last lines of each', integer(0))
    .option('--grep <regex>', 'only lines that match', filled)
    .option('-i, --ignore-case', 'with --grep: capitals are as good as others')
    .option('-C, --context <n>', 'with --grep: so many lines around each', integer(0, searchLimits.contextMax))
    .option('--attempt <n>', 'of this attempt (default: the last)', integer(1))
    .addOption(dirOption(env))
    .addHelpText('after', logsHelp)
    .action((ids: string[], options: LogOptions) =>
      perform(async (context) => (await import('./commands/logs.ts')).logs(context, ids, options)),
    );
}

function defineWatch(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('watch')
    .summary('print what happens, as it happens')
    .description('Prints what happens at a running controller, a line an event. With a workflow: until it has ended.')
    .argument('[id]', 'only of this workflow, task or attempt')
    .addOption(whereOption('only events that match'))
    .option('--after <cursor>', 'begin behind this event; 0: with the first one ever (default: now)', cursor)
    .option('--all', 'steps in between, too, such as attempts that are recorded')
    .addOption(bellOption())
    .addOption(jsonOption('an event a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', watchHelp)
    .action((id: string | undefined, options: WatchOptions) =>
      perform(async (context) => (await import('./commands/watch.ts')).watchEvents(context, id, options)),
    );
}

function defineCancel(program: Command, { env }: Given, perform: Perform): void {
  const command = program
    .command('cancel')
    .summary('end workflows or tasks for good')
    .description('Kills what runs of a workflow or a task, and drops what is left. It can not be resumed.')
    .argument('[id...]', 'workflows and tasks');
  addFailureOptions(command)
    .addOption(whereOption('instead of ids: all tasks that match'))
    .addOption(bulkDryRunOption())
    .addOption(jsonOption('an answer a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', cancelHelp)
    .action((ids: string[], options: CancelOptions) =>
      perform(async (context) => (await import('./commands/cancel.ts')).cancel(context, ids, options)),
    );
}

function defineClose(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('close')
    .summary('say that open workflows have all of their tasks')
    .description('Closes open workflows: they get no more tasks, and end when those they have do.')
    .argument('<id...>', 'workflows')
    .addOption(jsonOption('an answer a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', closeHelp)
    .action((ids: string[], options: CommonOptions) =>
      perform(async (context) => (await import('./commands/close.ts')).close(context, ids, options)),
    );
}

function defineSteering(program: Command, given: Given, perform: Perform): void {
  const define = (name: string, summary: string, description: string, help: string): Command =>
    program.command(name).summary(summary).description(description).addHelpText('after', help);
  const withTasks = (command: Command): Command =>
    command
      .argument('[task...]', 'tasks')
      .addOption(whereOption('instead of tasks: all that match'))
      .addOption(bulkDryRunOption())
      .addOption(jsonOption('an answer a line, as JSON'))
      .addOption(dirOption(given.env));
  withTasks(
    define('hold', 'keep tasks from being started', 'Keeps tasks that wait from being started.', holdHelp),
  ).action((tasks: string[], options: ManyOptions) =>
    perform(async (context) => (await import('./commands/steer.ts')).hold(context, tasks, options)),
  );
  withTasks(define('release', 'let held tasks start', 'Lets tasks start that were held.', releaseHelp)).action(
    (tasks: string[], options: ManyOptions) =>
      perform(async (context) => (await import('./commands/steer.ts')).release(context, tasks, options)),
  );
  const command = define(
    'priority',
    'give tasks another priority',
    `Gives tasks a priority from -${priorityMax} to ${priorityMax}, the higher the sooner; 0 is that of all others.`,
    priorityHelp,
  ).argument('<priority>', 'a whole number', signedInteger(priorityMax));
  withTasks(command).action((value: number, tasks: string[], options: ManyOptions) =>
    perform(async (context) => (await import('./commands/steer.ts')).priority(context, value, tasks, options)),
  );
}
