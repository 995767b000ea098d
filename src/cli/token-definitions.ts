/** `drover token` and what follows it. */
import { type Command, Option } from 'commander';
import { tokenMsMax } from '../model/limits.ts';
import { tokenRoles } from '../model/tokens.ts';
import type { AddTokenOptions, ListTokensOptions } from './commands/token.ts';
import type { CommonOptions } from './context.ts';
import { tokenHelp } from './help.ts';
import { dirOption, duration, filled, type Given, jsonOption, type Perform } from './options.ts';

export function defineToken(program: Command, { env }: Given, perform: Perform): void {
  const token = program
    .command('token')
    .summary('let others in, each with a role; see and revoke what they have')
    .description('Tokens by which others reach the controller: one may do what its role may, until it is revoked.')
    .addHelpText('after', tokenHelp);
  token
    .command('add')
    .summary('make a token and print it, this once')
    .description('Makes a token and prints it. It is kept nowhere: who loses it gets a new one.')
    .addOption(new Option('--role <role>', 'what it may do').choices(tokenRoles).makeOptionMandatory())
    .option('--name <text>', 'whose it is, or what it is for', filled)
    .option('--expires <time>', 'valid for so long: 30d, 12h (default: until it is revoked)', duration(1, tokenMsMax))
    .option('--access', 'print an access file with it: for another machine, or --dir and drover worker --access')
    .addOption(jsonOption('as one JSON object'))
    .addOption(dirOption(env))
    .addHelpText('after', tokenHelp)
    .action((options: AddTokenOptions) =>
      perform(async (context) => (await import('./commands/token.ts')).addToken(context, options)),
    );
  token
    .command('ls')
    .summary('list tokens')
    .description('Lists the tokens that are valid, without the tokens themselves.')
    .option('--all', 'those that were revoked or have expired, too')
    .addOption(jsonOption('a token a line, as JSON'))
    .addOption(dirOption(env))
    .action((options: ListTokensOptions) =>
      perform(async (context) => (await import('./commands/token.ts')).listTokens(context, options)),
    );
  token
    .command('revoke')
    .summary('let nobody in with these tokens any more')
    .description('Revokes tokens, at once: workers that came with one are cut off, and what they run dies in time.')
    .argument('<id...>', 'tokens, as in drover token ls')
    .addOption(jsonOption('an answer a line, as JSON'))
    .addOption(dirOption(env))
    .action((ids: string[], options: CommonOptions) =>
      perform(async (context) => (await import('./commands/token.ts')).revokeTokens(context, ids, options)),
    );
}
