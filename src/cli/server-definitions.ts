/** The commands around a controller that stays up. */
import { Argument, type Command, Option } from 'commander';
import { slotsMax } from '../model/limits.ts';
import { presets } from '../model/timeouts.ts';
import type { RetryOptions } from './commands/retry.ts';
import type { ServerOptions } from './commands/server.ts';
import type { SubmitOptions } from './commands/submit.ts';
import type { WorkerOptions } from './commands/worker.ts';
import type { AdministrationOptions } from './commands/worker-administration.ts';
import type { WorkersOptions } from './commands/workers.ts';
import type { ExecutionOptions } from './execution.ts';
import { retryHelp, serverHelp, submitHelp, waitHelp, workerHelp, workersHelp } from './help.ts';
import { isFlow } from './inputs/flow-names.ts';
import { defineLimits } from './limit-definitions.ts';
import { addLocalNotifications, addOccasions, addWebhooks } from './notify.ts';
import {
  addFailureOptions,
  addInputs,
  bulkDryRunOption,
  dirOption,
  duration,
  filled,
  type Given,
  integer,
  jsonOption,
  logLevelOption,
  type Perform,
  pool,
  queueName,
  quietOption,
  shard,
  size,
  slotsOption,
  type WorkerAction,
  whereOption,
  workerActions,
} from './options.ts';
import { defineToken } from './token-definitions.ts';

export function defineServerCommands(program: Command, given: Given, perform: Perform): void {
  defineSubmit(program, given, perform);
  defineWait(program, given, perform);
  defineRetry(program, given, perform);
  defineServer(program, given, perform);
  defineWorker(program, given, perform);
  defineWorkers(program, given, perform);
  defineLimits(program, given, perform);
  defineToken(program, given, perform);
}

function defineSubmit(program: Command, { env, sources, commandLine }: Given, perform: Perform): void {
  const command = program
    .command('submit')
    .summary('hand tasks to a running server and go')
    .description("Submits each line of FILE ('-': stdin), or 'cmd {}' for each value, to a running controller.");
  addWebhooks(addInputs(command))
    .option('--to <id>', 'add the tasks of a definition to an open workflow', filled)
    .addOption(jsonOption('the workflow as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', submitHelp)
    .action((words: string[], given: Omit<SubmitOptions, 'sources'>) =>
      perform(async (context) => {
        const options = { ...given, sources, commandLine };
        return isFlow(words, options)
          ? (await import('./commands/submit-flow.ts')).submitDefinition(context, words, options)
          : (await import('./commands/submit.ts')).submitTasks(context, words, options);
      }),
    );
}

function defineWait(program: Command, { env }: Given, perform: Perform): void {
  const command = program
    .command('wait')
    .summary('wait for workflows to end')
    .description('Waits until all of the workflows have ended. Exits 0 if all are done, else 1.')
    .argument('<id...>', 'workflows');
  addLocalNotifications(addOccasions(command))
    .addOption(quietOption())
    .addOption(jsonOption('progress and summary as JSON, an object a line'))
    .addOption(dirOption(env))
    .addHelpText('after', waitHelp)
    .action((ids: string[], options: ExecutionOptions) =>
      perform(async (context) => (await import('./commands/wait.ts')).wait(context, ids, options)),
    );
}

function defineRetry(program: Command, { env }: Given, perform: Perform): void {
  const usages = ['TASK…', '--failed ID…', 'ID --cause CAUSE', '--where FILTER'];
  const command = program
    .command('retry')
    .summary('try failed tasks again')
    .description('Tries failed tasks again, and what was cancelled because of them; a server is not waited for.')
    .usage(usages.map((usage) => `[options] ${usage}`).join('\n       drover retry '))
    .argument('[id...]', 'tasks; with --failed, --cause and the like, workflows')
    .option('--failed', 'all failed tasks of the workflows');
  addFailureOptions(command)
    .addOption(whereOption('instead of ids: all tasks that match'))
    .addOption(bulkDryRunOption())
    .addOption(slotsOption(env))
    .addOption(quietOption())
    .addOption(jsonOption('an answer a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', retryHelp)
    .action((ids: string[], options: RetryOptions) =>
      perform(async (context) => (await import('./commands/retry.ts')).retry(context, ids, options)),
    );
}

function defineServer(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('server')
    .summary('be a controller that stays up; stop it, or ask how it is')
    .description('Runs the controller of a folder until Ctrl-C, SIGTERM or "drover server stop".')
    .usage('[options]\n       drover server stop|status [options]')
    .addArgument(new Argument('[action]', 'what to do with the one that runs').choices(['stop', 'status']))
    .option('--listen <address:port>', 'where; off loopback with TLS (default: 127.0.0.1 and a free port)', filled)
    .option(
      '--tls-cert <file>',
      'a certificate of your own in PEM, with --tls-key (default: made once, off loopback)',
      filled,
    )
    .option('--tls-key <file>', 'its private key', filled)
    .option('--detach', 'in the background; returns when it answers')
    .addOption(presetOption())
    .option('--health-check <command>', "what a worker must be able to run (default: 'true')", filled)
    .option('--allow-bump-unhealthy-worker', 'let another worker of its shard replace one that is not healthy')
    .addOption(logLevelOption())
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', serverHelp)
    .action((action: 'stop' | 'status' | undefined, options: ServerOptions) =>
      perform(async (context) => (await import('./commands/server.ts')).server(context, action, options)),
    );
}

const presetOption = () =>
  new Option('--preset <name>', 'how long absence is borne: minutes, or seconds (default: cluster)').choices(
    Object.keys(presets),
  );

function defineWorker(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('worker')
    .summary('run tasks for a server, here or on another machine; drain or stop one')
    .description('Runs tasks for the controller of a folder or of an access file, until Ctrl-C or SIGTERM.')
    .usage(
      '[options]\n       drover worker drain|stop|release ID… [options]\n       drover worker slots ID… N [options]',
    )
    .addArgument(new Argument('[action]', 'what to do with workers that run').choices(workerActions))
    .argument('[id...]', 'workers, as in drover workers')
    .addOption(slotsOption(env))
    .addOption(
      new Option('--access <file>', "an access file (default: the folder's, .drover/access.json)").argParser(filled),
    )
    .option(
      '--shard <name>',
      'what replaces it takes over: one worker has a name at a time (default: by machine)',
      shard,
    )
    .option('--queue <name>', 'runs the tasks that ask for this queue (default: default)', queueName)
    .option('--memory <size>', 'for tasks, e.g. 8GB (default: that of the machine, or of its cgroup)', size)
    .option('--gpus <n>', 'for tasks (default: as many as nvidia-smi lists)', integer(0, slotsMax))
    .option('--pool <name=n>', 'what it has so much of for tasks, by a name of yours; repeatable', pool)
    .option('--until <duration>', 'it ends after this time; gets no task whose walltime is longer', duration(1_000))
    .addOption(logLevelOption())
    .option('--now', 'with stop: at once; what runs there is killed and tried elsewhere')
    .addOption(jsonOption('with an action: a worker a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', workerHelp)
    .action((action: WorkerAction | undefined, ids: string[], options: WorkerOptions & AdministrationOptions) =>
      perform(async (context) =>
        action === undefined
          ? (await import('./commands/worker.ts')).worker(context, options)
          : (await import('./commands/worker-administration.ts')).administerWorkers(context, action, ids, options),
      ),
    );
}

function defineWorkers(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('workers')
    .summary('list the workers of a running server')
    .description('Lists the workers of the running controller.')
    .option('--all', 'those that are gone, too')
    .addOption(whereOption('only those that match'))
    .addOption(jsonOption('a worker a line, as JSON'))
    .addOption(dirOption(env))
    .addHelpText('after', workersHelp)
    .action((options: WorkersOptions) =>
      perform(async (context) => (await import('./commands/workers.ts')).workers(context, options)),
    );
}
