/** The commands about whole workflows: their runs, and their graphs in and out. */
import { Argument, type Command, Option } from 'commander';
import { graphLimits } from '../model/limits.ts';
import type { ExportOptions } from './commands/export.ts';
import type { GraphOptions } from './commands/graph.ts';
import type { HaltOptions } from './commands/halt.ts';
import type { ImportOptions } from './commands/import.ts';
import type { ResetOptions } from './commands/reset.ts';
import {
  dirOption,
  factor,
  filled,
  type Given,
  jsonOption,
  type Perform,
  quietOption,
  slotsOption,
} from './options.ts';
import { exportHelp, graphHelp, haltHelp, importHelp, resetHelp } from './workflow-help.ts';

export function defineWorkflowCommands(program: Command, given: Given, perform: Perform): void {
  defineHalt(program, given, perform);
  defineReset(program, given, perform);
  defineImport(program, given, perform);
  defineExport(program, given, perform);
  defineGraph(program, given, perform);
}

/** Here, and not in the command, which is loaded only when it is called. */
const graphFormats = ['mermaid', 'dot', 'svg'] satisfies readonly GraphOptions['format'][];

/** The formats that workflows are exchanged in. */
const formatArgument = () => new Argument('<format>', 'of the file').choices(['wfformat']);

function defineImport(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('import')
    .summary('make a workflow of one that was recorded elsewhere')
    .description("Makes a workflow of FILE ('-': stdin), a recorded one, that takes as long and waits for the same.")
    .addArgument(formatArgument())
    .argument('<file>', "a file, or '-'")
    .option('--scale <x>', 'of all run times', factor, 1)
    .option('--memory-scale <x>', 'take so much of the recorded memory, too (default: none)', factor)
    .addOption(new Option('--run', 'run it').conflicts('submit'))
    .addOption(new Option('--submit', 'hand it to a running server and go'))
    .option('--output <file>', 'write the workflow there', filled)
    .option('--name <text>', 'a label for the workflow (default: that in the file)')
    .addOption(slotsOption(env))
    .addOption(quietOption())
    .addOption(jsonOption('what is printed as JSON, an object a line'))
    .addOption(dirOption(env))
    .addHelpText('after', importHelp)
    .action((_format: string, file: string, options: ImportOptions) =>
      perform(async (context) => (await import('./commands/import.ts')).importWorkflow(context, file, options)),
    );
}

function defineExport(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('export')
    .summary('write a workflow and how it ran for others to read')
    .description('Writes a workflow and how it ran in a format that other tools read.')
    .addArgument(formatArgument())
    .argument('<id>', 'a workflow')
    .option('--output <file>', 'there (default: to stdout)', filled)
    .addOption(jsonOption('with --output: what was written, as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', exportHelp)
    .action((_format: string, id: string, options: ExportOptions) =>
      perform(async (context) => (await import('./commands/export.ts')).exportWorkflow(context, id, options)),
    );
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

function defineGraph(program: Command, { env }: Given, perform: Perform): void {
  program
    .command('graph')
    .summary('draw what waits for what in a workflow')
    .description('Draws the tasks of a workflow and what waits for what, coloured by how far they are.')
    .argument('<id>', 'a workflow')
    .addOption(
      new Option('--format <name>', "of the drawing (default: by --output's ending, or mermaid)").choices(graphFormats),
    )
    .option('--by-template', 'one node for all tasks of a template')
    .addOption(new Option('--all', `a node for each task, up to ${graphLimits.nodesMax}`).conflicts('byTemplate'))
    .option('--output <file>', 'write it there (default: to stdout)', filled)
    .addOption(jsonOption('nodes and edges as one JSON object instead'))
    .addOption(dirOption(env))
    .addHelpText('after', graphHelp)
    .action((id: string, options: GraphOptions) =>
      perform(async (context) => (await import('./commands/graph.ts')).graph(context, id, options)),
    );
}
