/** What follows the options on the pages of help about runs and graphs of workflows. */

export const haltHelp = `
Nothing more is launched; what runs may end, or with --kill is ended now (TERM, then KILL). The workflow keeps
all that is done, and 'drover resume' goes on with it. Ctrl-C only ends the watching.

Examples:
  drover halt w3
  drover halt w3 --kill
  drover halt w3 --no-wait && drover resume w3 --hot     a new run that takes over what still runs
`;

export const resetHelp = `
Tasks that failed, were cancelled or wait get fresh budgets and wait again; done ones stay done, unless --all
repeats them, too. Only for a workflow that has no live run: halt it first. 'drover resume' then runs it.

Examples:
  drover reset w3 && drover resume w3
  drover halt w3 && drover reset w3 --all
`;
