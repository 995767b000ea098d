/** Every queue, message, line and list has its limit here, with the reason for its size. */

/** Changes of one turn, about: past this a commit would block the loop for longer than a heartbeat tolerates. */
export const commitRowsMax = 10_000;
/**
 * While workers have more than they can run, what they say may wait for so long: a turn costs about the same for one
 * message and for a hundred. A fraction of the time that is sent ahead.
 */
export const turnPauseMs = 50;
/** Tasks of one submission request; the client cuts its stream into these. */
export const submitTasksMax = 4_000;
/** Edges of one submission request, each a row: a turn of so many still takes less than a heartbeat's patience. */
export const submitEdgesMax = 16_000;
/** The body of a request that steers: it names a few things. */
export const steeringBodyBytesMax = 256 * 1024;
/** A submission request's body. One command may take most of it. */
export const submitBodyBytesMax = 16 * 1024 * 1024;
/** One line of a submission that is a stream: the longest command, escaped, and what is said besides. */
export const ndjsonLineBytesMax = 8 * 1024 * 1024;
/** What such a stream makes durable at a time, about, in characters of commands. */
export const ndjsonBatchCharactersMax = 1024 * 1024;
/** A command line. Beyond the kernel's 128 KiB for one argument it is run from a file. */
export const commandBytesMax = 1024 * 1024;
/** The environment that a workflow brings along. */
export const environmentBytesMax = 1024 * 1024;
export const nameBytesMax = 200;
/** Of the command line by which a workflow was submitted, as much as one reads. */
export const commandLineCharactersMax = 2_000;
export const shardBytesMax = 200;
export const workflowTasksMax = 50_000_000;
export const attemptsPerTaskMax = 1_000;
/** From minus this to this. */
export const priorityMax = 1_000;
/** Labels of one task: for filters, not for data. */
export const tagsMax = 64;
export const tagNameBytesMax = 100;
export const tagValueBytesMax = 1_000;
/** Resources of one task beyond those that have fields of their own. */
export const customResourcesMax = 32;
/** The smallest part of a processor that a task can ask for. */
export const cpusMin = 0.001;
export const fallbacksMax = 8;
/** Templates and names of tasks in a file of requests. */
export const requestsMax = 1_000;
export const scaleValuesMax = 64;
/** Placeholders of a template, arguments of a workflow. */
export const argumentsMax = 64;
/** All arguments of a workflow together: they are a key in memory. */
export const workflowArgumentBytesMax = 64 * 1024;
/** Tasks that a definition comes to, unless it says that more are meant: a slip in a list multiplies. */
export const expansionMax = 100_000;
/** A file with a definition; as much as the controller takes in one request. */
export const definitionBytesMax = submitBodyBytesMax;
/** What is wrong with a definition is told up to so many times. */
export const definitionIssuesMax = 50;
/** Tasks and edges, of each kind, by which the differences of two graphs are shown; of graphs up to that size. */
export const differencesShownMax = 20;
export const differenceTasksMax = 100_000;
/** A definition that the controller compiles: its tasks, and its bytes. Some of it is done in one go, up to a second. */
export const definitionRequestTasksMax = 100_000;
export const definitionRequestBytesMax = 4 * 1024 * 1024;
/** Limits of one workflow on how many tasks of a template, or with a tag, run at a time. */
export const concurrencyLimitsMax = 256;
/** Limits that all workflows share, such as licences: all of them are listed at once. */
export const clusterLimitsMax = 1_000;
/** How often one task's resources may be raised: by 1.5 each time, that is from a byte to more than there is. */
export const resourceRetriesMax = 100;

/** One WebSocket frame of control messages. A single command may exceed it; then the frame holds that one alone. */
export const frameBytesMax = 256 * 1024;
/** What a peer may send in one frame at all: a frame plus the largest single command, escaped, and its environment. */
export const frameBytesAccepted = 16 * 1024 * 1024;
export const messagesPerFrameMax = 1_024;
/** Messages of workers that wait for a turn of the controller; beyond it their links are held. */
export const inputsMax = 10_000;
/** Bytes waiting in a socket before its peer counts as stuck and the link is dropped. */
export const linkBacklogBytesMax = 64 * 1024 * 1024;

/** Output that travels with the end of an attempt, per stream; the rest is fetched. */
export const outputTailBytesMax = 64 * 1024;
/** One piece of fetched output: each costs two syncs, and a thousand workers may send one at the same time. */
export const outputChunkBytesMax = 256 * 1024;
/** One answer to a client that reads stored output: each costs a look at all pieces of the stream. */
export const outputReadBytesMax = 512 * 1024;
/** Output that is being followed, in memory for all who follow it; who is further behind has it fetched again. */
export const sharedOutputBytesMax = 64 * 1024 * 1024;
/** How often a worker is asked for news of a stream that is followed: the sooner, the more it has just written. */
export const followPollMs = { first: 40, max: 160 } as const;
/** A search in output. */
export const searchLimits = {
  /** Open at a time: a pager that is left open is one. */
  searchesMax: 64,
  /** Of them, those that look at a piece of output; the others have to wait. */
  turnsMax: 4,
  /** One request reads about so much, then says where to go on. */
  bytesMax: 256 * 1024 * 1024,
  tasksAtOnce: 500,
  /** Lines that the expression is given at a time, and for how long; one that takes longer would stop the controller. */
  linesAtOnce: 1_024,
  /** About: so few that what is plain takes a fraction of that time, also on a machine that is busy. */
  charactersAtOnce: 64 * 1024,
  pieceMsMax: 100,
  patternCharactersMax: 1_000,
  /** A longer line is looked at, and told, in parts. */
  lineCharactersMax: 16 * 1024,
  /** Of a line that matches, so much is told. */
  textCharactersMax: 4_096,
  contextMax: 100,
  /** Places in one line. */
  spansMax: 64,
} as const;
/** One packed output file of the controller. */
export const outputFileBytesMax = 256 * 1024 * 1024;

export const slotsMax = 4_096;
/** Workers over HTTP that have not gone; each is a row, and a look at its lease. */
export const httpWorkersMax = 10_000;
/** Claimed by one request: each is answered with its whole environment. */
export const claimsMax = 100;
/** One piece of output that a worker over HTTP sends: it is in memory until it is durable. */
export const outputPutBytesMax = 1024 * 1024;
/** Edges that one request adds or removes. */
export const continuationsMax = 1_000;
/** Usage samples of one attempt and metric, about: past it every second one goes, as often as needed. */
export const usageSamplesMax = 512;
/** Samples in one report. */
export const reportSamplesMax = 100;
/** What workers tell of the use of their attempts. Samples may be lost, and nothing ever waits for them. */
export const usageLimits = {
  /** An attempt that has ended by then has no series: what it used comes with its end. */
  fromMs: 3_000,
  /** A sample follows the one before after a share of the attempt's age: some 300 in half an hour, then one in `silenceMs`. */
  spacingShare: 1 / 64,
  /** For each so many tasks of a spawner a second more between two samples. */
  tasksPerSecond: 100,
  /** What does not change is told again after so long. */
  silenceMs: 30_000,
  /** How long a spawner, and then its worker, collects what goes into one message. */
  spawnerBatchMs: 2_000,
  workerBatchMs: 4_000,
  /** Samples of one message. */
  messageSamplesMax: 1_000,
  /** Samples that wait for their message in a worker; of those that come beyond it nothing is kept. */
  heldMax: 20_000,
  /** Samples of workers that one turn of the controller keeps; what comes beyond it is dropped. */
  turnSamplesMax: 10_000,
} as const;
/** The program that tells how busy GPUs are. */
export const gpuWatchLimits = {
  everyMs: 5_000,
  /** Without a word for so long it hangs, and is killed. */
  silenceMs: 20_000,
  /** After which one that failed is tried again. */
  retryMs: { first: 10_000, max: 600_000 },
  /** One line of it; what is longer is none of its lines. */
  lineCharactersMax: 1_000,
} as const;
/** Work sent ahead of free slots, measured in time, and capped in count. */
export const prefetchMs = 100;
export const prefetchMax = 2_048;
/** Attempts of one worker, however small they are: it tells all of them whenever it is asked what it runs. */
export const workerAttemptsMax = 8_192;
/** Needs that are looked at for one worker at a time; if there are more, the others have their turn the next time. */
export const lanesLookedAtMax = 1_024;
/** Different needs of one submission that are looked at for whether any worker could hold them. */
export const warnedNeedsMax = 100;
/** What has found no room for so long, while others have, gets a worker reserved. */
export const reserveAfterMs = 5_000;
/** Of that, what the spawner has beyond its slots, so that a free slot waits for nobody. */
export const startAheadMs = 40;
export const startAheadMax = 512;
/** How long ends wait for others before the controller is told, while its worker has enough to start. */
export const reportWaitMs = 20;
/** What was sent ahead and has not begun by then is taken back if there is room elsewhere; looked for as often. */
export const overdueMs = 1_000;

/** Repetitions that each cause may cost before the task fails for good; the user's own attempts are the workflow's. */
export const budgetDefaults = { resources: 5, lost: 5, neverStarted: 10 } as const;

export const backoffMs = {
  attempts: { first: 1_000, max: 60_000 },
  resources: { first: 0, max: 0 },
  /** The first wait is longer than a worker's own death takes to show everywhere. */
  lost: { first: 4_000, max: 60_000 },
  'never-started': { first: 1_000, max: 60_000 },
} as const;

/** A worker is suspected after so many failures in a row, of different tasks, while others do well. */
export const suspectAfterFailures = 3;
/** A suspicion that is not decided in this time is dropped. */
export const suspicionMsMax = 60_000;

/** TERM, then KILL after this, unless the task says otherwise. */
export const terminationMsDefault = 3_000;
export const terminationMsMax = 3_600_000;

/** A definer that goes silent while registering is taken for dead. */
export const registrationIdleMs = 60_000;

/** A spawner is asked so often whether it is there; one that has not answered so many times is stuck. */
export const spawnerPingMs = 2_000;
export const spawnerPingsMax = 10;
/** First reconnection tries follow each other quickly. */
export const reconnectMs = { first: 50, max: 1_000 } as const;

/** Rows of one page that a client may ask for. */
export const pageRowsMax = 1_000;
export const pageRowsDefault = 100;
/** Commands of a page, in characters: one that is beyond it ends early. A single command may take an eighth of it. */
export const pageCharactersMax = 8 * 1024 * 1024;
/** What one request for a page looks at before it answers with a short one: so much takes some ten ms. */
export const queryLimits = {
  /** Tasks in memory, and how many of them at a time, so that nobody else waits for more than about a millisecond. */
  tasksMax: 500_000,
  tasksAtOnce: 50_000,
  /** The same for who asks for a count: it takes longer, and is exact more often. */
  countedTasksMax: 2_000_000,
  /** Rows of the store that a filter makes necessary, and how many at a time. */
  rowsMax: 4_000,
  rowsAtOnce: 500,
  /** Definitions, each of which may have a command of a megabyte. */
  definitionsAtOnce: 50,
  /** Specifications of workflows, each with its environment. */
  specsMax: 1_000,
  specsAtOnce: 50,
  /** Changes of history. */
  changesMax: 10_240,
  changesAtOnce: 256,
  clausesMax: 32,
  valuesMax: 200,
  whereCharactersMax: 10_000,
} as const;
/** What one request does to tasks that match a filter, and one turn of it; the client goes on where it ended. */
export const bulkLimits = { tasksAtOnce: 2_000, tasksMax: 100_000, msMax: 20_000 } as const;
/** How long a read may wait for news. */
export const longPollMsMax = 30_000;

/** Streams of events. */
export const eventStreamLimits = {
  /** At a time. Each is a connection, and a look at what happens. */
  streamsMax: 1_000,
  /** Changes that are kept in memory for those who keep up; who is further behind reads the store. */
  tailChangesMax: 16_384,
  /** Changes that are looked at in one piece, so that nobody else waits for more than about a millisecond. */
  changesAtOnce: 256,
  /** Changes that are read from the store at once, for all who want them; and how many of these blocks are kept. */
  blockChanges: 512,
  blocksMax: 64,
  /** What is given to a connection at once; the next piece waits until it is taken. */
  pieceCharactersMax: 64 * 1024,
  /** What comes within this time goes out together. */
  gatherMs: 20,
  /** Without news. Also tells how far the stream has come, so that who comes back need not look at all of it again. */
  heartbeatMs: 10_000,
  /** After which a client that lost its stream comes back. */
  retryMs: 1_000,
} as const;

/** Notifications that one workflow asks for. */
export const notificationsMax = 16;
/** Rows of notices; past it those go that are settled, then the oldest of those that could not be told. */
export const noticesMax = 10_000;
/** A command that is run to tell of something is ended after this: what waits for it has ended. */
export const notifyCommandMsMax = 60_000;
/** Telling of notices. */
export const webhookLimits = {
  /** At a time, and of them to one receiver: one that keeps silent holds up nobody else. */
  callsMax: 32,
  callsOfReceiverMax: 2,
  callMsMax: 10_000,
  retryMs: { first: 1_000, max: 600_000 },
  /** One that can't be told for so long is given up. */
  msMax: 86_400_000,
  /** A host that ends waits so long for what is being told. */
  closeMsMax: 3_000,
  urlCharactersMax: 2_000,
  secretCharactersMax: 1_000,
  /** Changes after which it is made durable that they were looked at, though there was nothing to tell. */
  cursorChanges: 20_000,
} as const;

/** `debug` says what the controller does in each turn of its loop. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What one who reaches the controller's port may take of it. */
export const httpLimits = {
  /** Each worker has two, each client a few. With fewer descriptors (`ulimit -n`) it is those less the spare ones. */
  connectionsMax: 8_192,
  /** For the store, logs and files of output. */
  descriptorsSpare: 96,
  headerBytesMax: 16 * 1024,
  /** From the connection, or the end of the last request, to the end of the headers. */
  headersMsMax: 10_000,
  /** To the end of the body: the largest one at the speed of a slow line. */
  requestMsMax: 60_000,
  idleMsMax: 60_000,
  /** How often connections are looked at for the times above. */
  checkMs: 1_000,
} as const;

/**
 * Requests of one token: a loop that runs away is slowed, a herd of HTTP workers with one token is not; and failures of
 * one address to show a token, which nobody has many of. How many tokens, and how many addresses, are watched.
 */
export const rateLimits = {
  requests: { perSecond: 5_000, burst: 20_000 },
  failures: { perSecond: 2, burst: 30 },
  watchedMax: 10_000,
} as const;

/** How long, and for how many, the answers to requests with an idempotency key are kept. A submission has one for 4,000 tasks. */
export const answersMs = 86_400_000;
export const answersMax = 100_000;
export const idempotencyKeyCharsMax = 200;

/** Submissions that are compared with an earlier workflow at the same time: each takes 44 bytes for each of its tasks. */
export const comparisonsMax = 4;

/** Rows of tokens. Past it those go that were revoked or have expired, the oldest first. */
export const tokensMax = 10_000;
/** A token that expires does so within ten years: later is a slip, or never. */
export const tokenMsMax = 10 * 366 * 86_400_000;

/** A file of a recorded workflow: it is read as one text, of which the engine has a limit of four times as much. */
export const wfformatBytesMax = 128 * 1024 * 1024;
/** Edges of one that is written: without joins they may be as many as the square of the tasks. */
export const wfformatEdgesMax = 5_000_000;
/** Nodes of a drawn graph: beyond the first number alike ones are folded, and beyond the last none is drawn. */
export const graphLimits = {
  foldNodes: 60,
  nodesMax: 3_000,
  edgesMax: 20_000,
  tasksMax: 1_000_000,
  labelChars: 40,
} as const;

/** What is remembered of failures: docs/decisions/018-statistics.md. */
export const failureLimits = {
  /** The end of stderr that a fingerprint is made of: lines, their length in characters, and bytes that are looked at for them. */
  linesMax: 3,
  lineCharactersMax: 200,
  tailBytesMax: 4_096,
  /** Fingerprints of all time, each a row; what comes beyond it has the one that is called `other`. */
  fingerprintsMax: 10_000,
  /** Combinations of cause, fingerprint and host in memory, by numbers of 16 bits; beyond it the host is left out, then the fingerprint. */
  classesMax: 60_000,
  hostlessClassesMax: 65_000,
  /** Live attempts of workers over HTTP whose end of stderr is remembered. */
  tailsMax: 10_000,
  /** Groups of one answer, the largest first; and of each, examples, hosts, and last lines of an example. */
  groupsMax: 50,
  examplesMax: 5,
  hostsMax: 10,
} as const;

/** What statistics may take of memory: a cell is a few kB, 9 kB if its values differ by a factor of a billion. */
export const statisticsLimits = {
  /** Workflows with statistics of their own. Beyond it the first of those that have ended goes into the sum of the others. */
  workflowsMax: 500,
  /** Of one workflow; what comes beyond it is `other`. */
  templatesMax: 256,
  workersMax: 1_024,
  tagNamesMax: 16,
  tagValuesMax: 64,
  /** Of all workflows together; and of the sum of those that have none of their own any more. */
  cellsMax: 4_096,
  forgottenCellsMax: 1_024,
  /** Combinations of tags, by numbers of 16 bits. */
  tagSetsMax: 60_000,
  /** When tasks were added to an open workflow, one after the other. */
  activationsMax: 256,
  /** After a restart: when to begin to read what ended before it, how much at a time, and the share of the time that it takes. */
  rebuildAfterMs: 1_000,
  rebuildRows: 500,
  rebuildTags: 5_000,
  rebuildShare: 0.25,
  /** Tasks whose last attempts are read for a filter that no index answers. */
  sampleMax: 10_000,
  /** Groups and bars of one answer. */
  groupsMax: 500,
  barsMax: 20,
  /** How long a request may wait for what is being read after a restart. */
  waitMsMax: 30_000,
} as const;

/** What a report of a run has, so that its page is a few MB at most however many tasks there are: docs/decisions/022-report.md. */
export const reportLimits = {
  /** Each attempt is drawn up to so many; beyond it, how busy each worker was. */
  barsMax: 4_000,
  /** Rows of the timeline. One for each slot, or, where these are more, for each worker; those beyond it share the last. */
  lanesMax: 96,
  /** Intervals of the time that it took: about as many as a screen has columns to show them. */
  bucketsMax: 480,
  /** Times in which nothing ran are cut out if each is such a share of all time, and all of them together such a one. */
  cutShareMin: 0.05,
  idleShareMin: 0.5,
  /** Characters of all commands, and the least and the most of one. */
  commandCharactersMax: { all: 800_000, least: 80, most: 2_000 },
  slowestMax: 15,
  /** Usage over time is told for the slowest attempts, thinned to so many samples. */
  samplesMax: 120,
  retriedMax: 10,
  /** Tasks that were sent to a worker and have not been started, by name. */
  unstartedMax: 10_000,
  workersMax: 50,
  templatesMax: 50,
  /** Steps of the path to the last end that are told, and edges up to which it is looked for. */
  pathMax: 100,
  pathEdgesMax: 100_000,
  /** Different ends of attempts. */
  endsMax: 20,
} as const;

/** What the answer to why something waits looks at, so that it takes a few ms at most, and what it names. */
export const whyLimits = {
  /** Workers, live attempts, and workflows with something ready: beyond it nobody knows about the rest, and it says so. */
  workersMax: 10_000,
  attemptsMax: 10_000,
  sourcesMax: 10_000,
  /** Dependencies, on the way to the task that all others wait for. */
  edgesMax: 10_000,
  /** Ends of such ways that are told apart by how urgent they are. */
  rootsMax: 1_000,
  /** Tasks of a workflow that are looked at, and how many it may pass over to find them. */
  sampleMax: 1_000,
  passedMax: 200_000,
  passedForOneMax: 64,
  /** Tasks, workers and queues that one reason names; groups of one answer. */
  namedMax: 5,
  groupsMax: 50,
} as const;
