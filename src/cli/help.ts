/** What follows the options on each page of help: the words that need more than a line, and examples. */

export const programHelp = `
Start here:
  drover run tasks.txt                     each line of the file is a task
  seq 100 | sed 's/^/echo /' | drover run -
  drover run 'gzip -k {}' ::: *.txt        a task for each value
  drover run flow.yaml                     a workflow with dependencies: docs/WORKFLOWS.md
  drover ls                                what there is: w1, w2, …
  drover logs w2.7                         what task 7 of w2 wrote
  drover why w2                            what its tasks wait for, and what to do about it
  drover failures                          what failed, by cause, and how to try it again
  drover report                            a page about the newest run, to look at and to send
  drover resume                            go on after Ctrl-C, a crash or failures
  drover server --detach; drover worker    a controller that stays up: see submit, wait, retry, workers

'drover COMMAND --help' tells more. State is kept in the nearest .drover folder.

Exit codes: 0 all done, 1 a task failed or was cancelled, 2 usage, 3 no controller, 4 store, 70 a bug,
130 interrupted.
`;

export const runHelp = `
Tasks from a file: a line is a command. Blank lines and lines that begin with # are skipped, except
  #DROVER BARRIER          what follows waits until all before it has ended
  #DROVER BARRIER CHECK    … and runs only if all of it succeeded

Tasks from values (options come before the first :::):
  {}    the value; with several lists, all values          {#}   the number of the task, from 1
  {1}   the value of the first list, {2} of the second …   \\{}   is left alone, as is \${1}
  A value is quoted where it is inserted, also within quotes: 'a b; rm x' stays one word. Without a
  placeholder it is appended. Several lists give all combinations. With --array nothing is appended.

Tasks from a definition, FLOW.yaml or .json: templates, arrays, dependencies, resources (docs/WORKFLOWS.md).
Options count before what it says of all tasks. The same definition again, by its name, arguments and
tasks, goes on with what is there: follows it, resumes it, or says that it is done; --fresh makes a new one.

Again: --update w3 takes an edited list and runs what is new, has changed or is not done in w3; --update NAME
means the newest workflow of that name, and names the new one. The same is what has the same command,
index, directory, shell and stdin; the environment does not count. --skip-if-exists PATH looks for PATH when
the task is submitted, where it is submitted (a relative path: below --cwd). What is skipped counts as done.

Result: when all is done, the stdout of the tasks after the last barrier (without one: of all tasks) is
printed to stdout, in order, if they are at most 10 and wrote at most 64 KiB each. Progress and summary go
to stderr. Ctrl-C lets running tasks finish, a second one kills them; 'drover resume' goes on in either case.

Examples:
  drover run -j 8 --retries 2 tasks.txt
  drover run 'convert {1} -resize {2} {1}-{2}.png' ::: *.jpg ::: 50% 25%
  drover run --timeout 10m 'simulate --seed {}' --array 1-1000
  ./make-tasks | drover run --name nightly -
  ./make-tasks | drover run --update nightly -
  drover run flow.yaml --arg cohort=2026 --memory 4GB
  drover run flow.yaml --dry-run
  drover run 'render {} > out/{}.png' --skip-if-exists 'out/{}.png' ::: *.obj
`;

export const notifyHelp = `
Notifications: --notify-url is told by the server, also when nobody waits any more; --notify-command and
--bell by this command. A command finds $DROVER_EVENT, _WORKFLOW, _NAME, _STATE, _TOTAL, _DONE and _FAILED.
`;

export const resumeHelp = `
A workflow has at most one run at a time: one that runs can't be resumed, and of two resumes one wins.
While a halt still waits for tasks, --hot goes on at once and takes them over; --cold waits for their ends.

Examples:
  drover resume          go on with the newest workflow that was interrupted or has failed
  drover resume w3 -j 4
  drover resume w3 --cold --kill
`;

export const lsHelp = `
Examples:
  drover ls
  drover ls --json -n 1 | jq .state
  drover ls --where 'state=failed&createdAt>-7d'
`;

export const showHelp = `
Examples:
  drover show w3
  drover show w3 --state failed
  drover show w3 --where 'exit=137&wall>10m'
  drover show w3.7       a task: its command, and how each attempt went
`;

export const logsHelp = `
Of several tasks each line begins with its task: 'w3.7 | line', for stderr 'w3.7 ! line'. They come in the
order of the tasks or, with -f, as they are written. --grep searches on the controller what was kept of the
last attempts, or of the one named, and prints 'w3.7:12 | line'; the expression is one of JavaScript. With
--both, one task's streams go where it sent them.

Exits 1 if output is lost or was never written, which is said on stderr, or if nothing matches.

Examples:
  drover logs w3.7
  drover logs w3.7 --stderr -f
  drover logs 'w3.7#1'   of the first attempt, like --attempt 1
  drover logs w3 -f      all of its tasks, as they write
  drover logs w3 --failed --both --tail 20
  drover logs --where 'workflow=w3&host=n1' --grep 'error|warning' -i -C 2
`;

export const watchHelp = `
With --json each event has its number as seq: '--after SEQ' goes on behind it, with nothing missed and
nothing twice, also after a restart of the controller. Filters are those of events: type, workflow, task,
attempt, state, outcome, exit, worker, host, at. Ctrl-C ends it.

Examples:
  drover watch
  drover watch w3 --where 'state=failed'
  drover watch --json --after 0 --where 'type=attempt-ended&host=n1'
`;

export const statsHelp = `
How many tasks are in which state, how fast they end and when the rest will have, how long they wait and run, what they use of
what they asked for, and what to ask for next time. Quantiles are right within 2 %. With --where, the last attempts of up to
10,000 of the tasks that match are looked at. By tag, a task is in the group of each of its tags.

Examples:
  drover stats                       of all workflows
  drover stats w3 --by template
  drover stats w3 --by tag
  drover stats w3 --by tag:model --json | jq '.groups[] | {name, recommended}'
  drover stats w3 --where 'exit=137'
`;

export const whyHelp = `
Of a task: all that is in its way now, what comes first first, and where it waits for others, the task at the end of that chain and
why that one waits; of one that has ended, how. Of a workflow: its tasks that have not ended, by what they wait for, the largest group
first, with an example; of more than 1,000 tasks, of as many at even distances. An indented line is a command that does something about it.

Examples:
  drover why w3.7
  drover why w3
  drover why w3.7 --json | jq -r '.reasons[].kind'
`;

export const failuresHelp = `
Failed tasks are the same that failed by the same cause (exit code, signal, out of memory, timeout, walltime, lost, not
startable) with the same last lines, numbers, paths, addresses and times aside. With it is the command that tries a group again.

Examples:
  drover failures                    of the newest workflow that has some
  drover failures w3 --by host
  drover failures w3 --json | jq -r '.groups[].rerun'
`;

export const reportHelp = `
The page has a timeline of all attempts by worker, how many ran, waited and ended over time, how long they waited and ran, what
they used of what they asked for and what to ask for next time, failures in groups with the commands that try them again, the
critical path, the slowest attempts, workers, environment and versions. It opens anywhere and asks nothing of any server; of
workflows with more than 4,000 attempts the timeline shows how busy each worker was. It has the beginnings of commands and the last
lines of output of what failed, but no value of an environment variable. Of one that still runs it tells what is so far.

Examples:
  drover report                      of the newest workflow, to report-w3.html
  drover report w3 --open
  drover report w3 -o - | ssh host 'cat > w3.html'
  drover report w3 --json | jq '.slowest[] | {attempt, ms}'
`;

export const cancelHelp = `
Examples:
  drover cancel w3
  drover cancel w4.1 w4.2 w5
  drover cancel --where 'workflow=w3&state=queued&tag.model=x' --dry-run
  drover cancel w3 --cause exit:137     what failed so, and would be tried again
`;

export const closeHelp = `
Examples:
  drover close w3
`;

export const schemaHelp = `
Examples:
  drover schema > workflow.schema.json     then begin a file with
                                           # yaml-language-server: $schema=workflow.schema.json
`;

const filterHelp = `
A filter is clauses joined by &, for example state, workflow, exit, host, tag.NAME, command~TEXT, attempts>1,
startedAt>-1h, requestedResources.memory>1GB. A field that is none is answered with the nearest ones.
`;

export const holdHelp = `${filterHelp}
Examples:
  drover hold w3.7
  drover hold --where 'workflow=w3&state=queued,waiting'
`;

export const releaseHelp = `${filterHelp}
Examples:
  drover release w3.7 w3.8
  drover release --where 'workflow=w3&held=true'
`;

export const priorityHelp = `${filterHelp}
A negative one comes after --: drover priority -- -5 w3.7

Examples:
  drover priority 10 w3.7
  drover priority 10 --where 'tag.owner=me' --dry-run
`;

export const submitHelp = `
Prints the id of the workflow and returns; the server goes on with it. Tasks are given as to 'drover run',
whose help tells more.

Examples:
  drover submit tasks.txt
  drover submit flow.yaml
  drover submit --to w3 more.yaml          to a workflow that is open; 'drover close w3' ends that
  drover submit --retries 2 'simulate --seed {}' --array 1-1000
  drover wait $(drover submit 'gzip -k {}' ::: *.txt)
`;

export const waitHelp = `
Ctrl-C only ends the waiting: the workflows go on.

Examples:
  drover wait w3
  drover wait w3 w4 && echo both are done
`;

export const retryHelp = `
Without a server, tasks of one workflow are run here; -j and -q are for that. 'drover resume' repeats all that
failed.

Examples:
  drover retry w3 --failed
  drover retry w3.7 w3.9
  drover retry w3 --cause exit:137 --host n7     as 'drover failures w3' says it
  drover retry --where 'state=failed&exit=137&host=n1'
`;

export const serverHelp = `
The server runs no task itself: 'drover worker' does, here or elsewhere. While it is up, 'drover run' and the
other commands join it. Who has its access file, .drover/access.json, may do anything with it; others get
tokens by 'drover token'. When it ends, workers go on with what they run for a while, and the next server
takes over. Its log is .drover/logs/controller.log, a JSON object a line.

Examples:
  drover server --detach
  drover server --listen 0.0.0.0:7070      for workers on other machines
  drover server --listen 0.0.0.0:7070 --tls-cert host.pem --tls-key host.key
  drover server status
  drover server stop
`;

export const workerHelp = `
On another machine: copy .drover/access.json there, by a way that keeps it secret, and name it. When its
controller is away for longer than it bears (9 minutes; 12 s under --preset interactive) it kills what it
runs, then waits for the controller to come back.

Examples:
  drover worker -j 8
  drover worker --access ~/access.json
  drover worker -j 64 --queue big --memory 500GB --pool scratch=2000 --until 11h50m
  drover worker drain k2       no more tasks for it; 'release' undoes that, and a quarantine
  drover worker slots k2 16    from now on
  drover worker stop k2        when it has ended what it runs; --now: at once
`;

export const workersHelp = `
Examples:
  drover workers
  drover workers --all --json | jq .state
`;

export const limitHelp = `
A task asks for so much of a limit by its name. What nobody has set holds nobody back. Lowering one ends
nothing that runs; 0 pauses what asks for it. To set one takes a token of the role admin.

Examples:
  drover limit                  all of them: how much there is, and in use
  drover limit licences 5
  drover limit licences none
`;

export const concurrencyHelp = `
Lowering a limit ends nothing that runs; 0 pauses, and 'none' lifts it. Without a number it is shown.

Examples:
  drover concurrency w3 50
  drover concurrency w3 --template fit=10 --template plot=none
  drover concurrency w3 --tag model=x=0
`;

export const resourcesHelp = `
Of a workflow: by template, or by name, the most that one of its tasks asked for, used, and has now; how often something was raised
because a task had run out of it; and what to ask for next time. Of a task: every row, from what was requested to what was
raised last, with the attempts that ran with it.

Examples:
  drover resources w3
  drover resources w3.5
  drover resources w3 --write-yaml requests.yaml && drover run flow.yaml --fresh --resources requests.yaml
  drover run flow.yaml --fresh --learn      the same, from earlier runs of that name
`;

export const tokenHelp = `
Roles: read looks; submit also submits, cancels and retries; worker runs tasks; admin may do anything.
A token is used by an access file that has it (--access), or in the place of the access file's own: as
$DROVER_TOKEN, or in a file that $DROVER_TOKEN_FILE names. Never as an argument: all on the machine see those.

Examples:
  drover token add --role submit --name ci --expires 30d
  (umask 077; drover token add --role worker --access > worker.json)     for 'drover worker --access FILE'
  DROVER_TOKEN_FILE=~/ci.token drover submit tasks.txt
  drover token ls
  drover token revoke t3
`;
