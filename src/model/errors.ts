/**
 * The one catalogue of errors that a person or a program may see. A code is stable for good; `retryable` says whether
 * the same request may succeed later without a change; `status` is its HTTP status; `exit` the exit code of the CLI.
 */
interface ErrorKind {
  readonly status: number;
  readonly exit: number;
  readonly retryable: boolean;
  readonly hint: string;
}

const kind = (status: number, exit: number, retryable: boolean, hint: string): ErrorKind => ({
  status,
  exit,
  retryable,
  hint,
});

export const exitCodes = {
  ok: 0,
  tasksFailed: 1,
  usage: 2,
  unreachable: 3,
  store: 4,
  bug: 70,
  interrupted: 130,
} as const;

const seeList = "list what there is with 'drover ls'";

export const errorKinds = {
  'bad-input': kind(400, 2, false, 'correct the input and try again'),
  'bad-reference': kind(400, 2, false, 'name a workflow as w3, a task as w3.14, an attempt as w3.14#2'),
  'bad-filter': kind(400, 2, false, 'correct the filter; docs/API.md has the fields and how they are compared'),
  'bad-cursor': kind(400, 2, false, 'begin anew without a cursor; give only what `next` of the same list said'),
  'bad-definition': kind(400, 2, false, 'correct the definition and try again; docs/WORKFLOWS.md has its fields'),
  'graph-differs': kind(
    409,
    2,
    false,
    'give it other arguments (--arg), or begin a new one: --fresh runs all of it, --update what is not done',
  ),
  'already-submitted': kind(409, 2, false, 'go on with the one that is there'),
  'pattern-too-slow': kind(400, 2, false, 'use a simpler expression: one without repetitions of repetitions'),
  'too-large': kind(413, 2, false, 'split it, or put the data into a file that the task reads'),
  'not-authorised': kind(401, 3, false, 'use the access file of the running controller'),
  'token-expired': kind(401, 3, false, "ask an admin for a new one: 'drover token add'"),
  'token-revoked': kind(401, 3, false, "ask an admin for a new one: 'drover token add'"),
  'token-unknown': kind(404, 2, false, "list the tokens with 'drover token ls'"),
  'too-many-requests': kind(429, 3, true, 'ask again later, and less often'),
  'too-many-streams': kind(429, 3, true, 'end streams that nobody reads, or come back later'),
  'workflow-unknown': kind(404, 2, false, seeList),
  'task-unknown': kind(404, 2, false, seeList),
  'attempt-unknown': kind(404, 2, false, "list the attempts of a task with 'drover show TASK'"),
  'nothing-to-resume': kind(404, 2, false, "start something with 'drover run'"),
  'transition-not-allowed': kind(409, 2, false, "look at its present state with 'drover show'"),
  'role-not-allowed': kind(403, 2, false, 'use a token of a role that may do this'),
  'run-is-live': kind(409, 2, true, "follow it with 'drover wait', or stop it with 'drover halt'"),
  'continuation-not-waiting': kind(409, 2, false, 'only a task that still waits can get another dependency'),
  'dependency-cycle': kind(409, 2, false, 'remove one of the edges of the cycle'),
  'edge-unknown': kind(404, 2, false, "look at the dependencies with 'drover show TASK'"),
  'idempotency-key-reused': kind(409, 2, false, 'give each request a key of its own; repeat one unchanged'),
  'attempt-superseded': kind(409, 2, false, 'the task has a newer attempt; drop this report'),
  'worker-wrong': kind(409, 3, false, 'the attempt belongs to another worker'),
  'not-your-attempt': kind(403, 3, false, 'a worker speaks for the attempts that it claimed itself'),
  'task-not-available': kind(409, 2, false, 'claim another task, or fetch the list of those that are available anew'),
  'worker-full': kind(409, 3, true, 'end an attempt first, or register with more slots'),
  'worker-barred': kind(409, 3, true, "an operator decides; see 'drover workers'"),
  'workers-too-many': kind(409, 3, true, 'end workers that are not needed; one that is silent goes by itself'),
  'attempt-ended': kind(409, 2, false, 'what is said of it now comes too late; drop it'),
  'output-gap': kind(409, 2, true, 'send the bytes from the offset that is expected on'),
  'limit-unknown': kind(404, 2, false, "list the limits with 'drover limit'"),
  'worker-unknown': kind(404, 2, false, "list the workers with 'drover workers'"),
  'worker-away': kind(409, 3, true, 'try again when it is connected'),
  'protocol-version': kind(409, 3, false, 'run the same version of Drover on both sides'),
  'access-damaged': kind(
    500,
    3,
    false,
    'end the controller that runs here, if one does, and start again: that writes a new one, and nothing is lost',
  ),
  'controller-unreachable': kind(503, 3, true, 'is the controller running? try again'),
  'controller-stopping': kind(503, 3, true, 'try again when it is back'),
  'store-locked': kind(503, 4, true, 'another controller uses this folder; wait for it or name another one with --dir'),
  'store-newer': kind(500, 4, false, 'upgrade Drover, or name another folder with --dir'),
  'store-damaged': kind(500, 4, false, 'restore the folder from a backup, or name another one with --dir'),
  'store-unwritable': kind(500, 4, false, 'make the folder writable, free disk space, or name another one with --dir'),
  'store-shared-fs': kind(
    500,
    4,
    false,
    'put the folder on a local disk with --dir; SQLite is unsafe on a network disk',
  ),
  'certificate-unusable': kind(500, 4, false, 'name the files of a certificate and its key in PEM'),
  'address-unusable': kind(500, 4, false, 'choose another address or port with --listen'),
  'worker-not-starting': kind(500, 4, true, "read the worker's log in the .drover folder"),
  bug: kind(500, 70, false, 'please report this, with the message and the command that led to it'),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errorKinds;

export type ErrorDetails = Readonly<Record<string, unknown>>;

/** An operating error as a value with a code. A broken invariant is not one of these: it asserts and crashes. */
export class DroverError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: ErrorDetails | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    options: { hint?: string; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DroverError';
    this.code = code;
    this.hint = options.hint ?? errorKinds[code].hint;
    this.details = options.details;
  }

  get exitCode(): number {
    return errorKinds[this.code].exit;
  }

  get status(): number {
    return errorKinds[this.code].status;
  }
}

export const isErrorCode = (text: string): text is ErrorCode => Object.hasOwn(errorKinds, text);

/** For conditions that the code itself guarantees: when one fails, the program is wrong, not its input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${message}`);
}
