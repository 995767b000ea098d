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

export const importHelp = `
A WfFormat 1.5 file is a workflow as it ran elsewhere: each task becomes a 'sleep' of its recorded run time,
times --scale, with the same edges. With --memory-scale it also takes, and asks for, its recorded memory.
Its kind is the template; what else was recorded are attributes. Without --run or --submit only a summary is
printed. --output writes a line of JSON for each task and edge, as POST /api/v1/workflows takes them.

Examples:
  drover import wfformat montage.json
  drover import wfformat montage.json --scale 0.01 --run
  drover wait $(drover import wfformat blast.json --scale 0.1 --memory-scale 1 --submit)
`;

export const exportHelp = `
Writes the tasks and edges of a workflow as WfFormat 1.5 and, for those that ran, how long, with how much CPU
and memory, on which machine. Barriers and other joins are no tasks there: edges lead through them.

Examples:
  drover export wfformat w3 --output w3.json
  drover export wfformat w3 | jq .workflow.execution.makespanInSeconds
`;

export const graphHelp = `
Beyond 60 tasks, those of one template (or program) that are as deep in the graph become one node, such as
'align ×200: 180 done, 20 failed'. Barriers and other joins are dots; dashed edges are those that wait for
any end, or for a failure. An .svg file needs nothing else to be looked at.

Examples:
  drover graph w3 --output w3.svg
  drover graph w3 --by-template
  drover graph w3 --all --format dot | dot -Tpdf > w3.pdf
`;
