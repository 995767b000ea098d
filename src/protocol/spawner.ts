/**
 * What a worker and its spawner say to each other: NDJSON over the spawner's stdin and stdout, where a line is one
 * array of messages, so that many starts or ends travel in one frame.
 * Both ends come from the same release and a pipe joins them, hence no version and no validation beyond the limit.
 */
import type { UsageMetric } from '../model/states.ts';
import { Repeats } from './repeats.ts';

/** Characters of one line; the encoder splits before, the splitter refuses after. */
export const SPAWNER_LINE_CHARS_MAX = 16 * 1024 * 1024;
/** What outlives a task's main process may end by itself within this time. */
export const LEFTOVER_GRACE_MS = 200;
/** Then it gets SIGTERM, and after this time SIGKILL. */
export const LEFTOVER_TERM_MS = 1_000;
/** A kernel takes no argument or environment entry of this size or more (MAX_ARG_STRLEN). */
export const ARGUMENT_BYTES_MAX = 128 * 1024;
/** Set by the spawner for each task, `<pid of the spawner>.<key>`: finds the task of an orphan. */
export const SPAWN_KEY_VARIABLE = 'DROVER_SPAWN_KEY';

export type OutputFile = {
  readonly path: string;
  /** Files of a slot (`reuse`) are kept open for the tasks that follow, and emptied for each of them. */
  readonly mode: 'reuse' | 'truncate';
};

type TaskDescription = {
  /** Chosen by the worker, unique among its unfinished tasks; names the task in every later message. */
  readonly key: number;
  /** Id of an interned base environment. */
  readonly env: number;
  /** `NAME=value` entries that are added to the base or replace its own. */
  readonly vars: readonly string[];
  readonly command: string;
  /** Absolute path; the command runs as `shell -c command`, or directly where that is certain to be the same. */
  readonly shell: string;
  readonly cwd: string;
  /** /dev/null when absent. */
  readonly stdin?: string;
};

/** Starts a task at once, whatever else runs. */
export type StartTask = TaskDescription & {
  readonly t: 'start';
  readonly stdout: OutputFile;
  readonly stderr: OutputFile;
  /** A directory made before the task; what the task left in it is removed after it. */
  readonly scratch?: string;
  /** What its processes together may use; with more all of them are killed. */
  readonly memoryBytes?: number;
};

/** Its worker has made room for it. */
export type BesideSlots = { readonly memoryBytes?: number };

/** Starts a task as soon as a slot is free, in the order in which they came. */
export type QueueTask = TaskDescription & {
  readonly t: 'queue';
  /** Where the user wants the output; otherwise it goes to the files of the slot. */
  readonly files?: { readonly stdout: string; readonly stderr: string };
  /** It starts at once, and takes no slot from others. */
  readonly beside?: BesideSlots;
};

export type KillTask = {
  readonly t: 'kill';
  readonly key: number;
  readonly how: 'term' | 'kill' | 'term-kill';
  /** For `term-kill`: SIGKILL follows after this time. */
  readonly graceMs: number;
  readonly why: string;
};

type SlotsMessage = {
  readonly t: 'slots';
  readonly count: number;
  readonly directory: string;
  /** One of several spawners: its slots have every so manieth number. */
  readonly of?: { readonly index: number; readonly total: number };
};

export type ToSpawner =
  | { readonly t: 'env'; readonly id: number; readonly env: readonly string[] }
  | { readonly t: 'dropEnv'; readonly id: number }
  /** How many slots there are, and where their files and scratch directories go; before any task is queued. */
  | SlotsMessage
  | StartTask
  | QueueTask
  /** A task that still waits for its slot is `dropped`, by this or by a kill. */
  | { readonly t: 'drop'; readonly key: number }
  | KillTask
  /**
   * Unless it hears this again in time, it kills everything and ends: a worker that is stopped or stuck can't. It counts from
   * `sentAt`, by the machine's time since its start: a spawner that was stopped itself reads it late.
   */
  | { readonly t: 'renew'; readonly ms: number; readonly sentAt?: number }
  /** Answered by `pong`: one that does not answer is stuck. */
  | { readonly t: 'ping' }
  /** Term-kill everything, report the ends, exit 0. */
  | { readonly t: 'stop'; readonly graceMs: number };

export type LauncherName = 'posix_spawn' | 'node';

/** The length of a stream, and its last bytes in base64. */
export type OutputEnd = { readonly bytes: number; readonly tail: string };

export type OutputFiles = { readonly stdout: string; readonly stderr: string };

export type TaskEnded = {
  readonly t: 'ended';
  readonly key: number;
  /** Exactly one of `exit` and `signal`: those of the main process. */
  readonly exit?: number;
  readonly signal?: number;
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Absent when the task ended before it was sampled. */
  readonly peakBytes?: number;
  readonly at: number;
  readonly out: OutputEnd;
  readonly err: OutputEnd;
  /** Where it lies, if that is more than what the tails have. The next task of the slot gets other files. */
  readonly files?: OutputFiles;
  /** A kill reached the task while its main process ran; `killed` when that took SIGKILL. */
  readonly signalled?: { readonly why: string; readonly killed: boolean };
  /**
   * A process of it was killed for want of memory: it used more than its `memoryBytes`; or the main process was, by the
   * kernel, because the machine had none left.
   */
  readonly outOfMemory?: 'task' | 'machine';
  /** Processes that outlived the main process and its grace, and were ended. */
  readonly leftovers?: number;
};

export type StartFailureCode =
  | 'cwd-missing'
  | 'shell-missing'
  | 'stdin-missing'
  | 'output-unwritable'
  | 'too-long'
  | 'no-resources'
  | 'other';

export type StartFailure = {
  readonly code: StartFailureCode;
  /** Names the path and says what to do. */
  readonly message: string;
  /** false: the same start may succeed later. */
  readonly permanent: boolean;
};

/** Of one task: what it used of what, by when (ms since the epoch). */
export type TaskSample = readonly [key: number, metric: UsageMetric, at: number, value: number];

export type FromSpawner =
  | { readonly t: 'ready'; readonly pid: number; readonly launcher: LauncherName; readonly note?: string }
  /** `at`: ms since the epoch. One that was queued and has ended since is told of by its end alone. */
  | {
      readonly t: 'started';
      readonly key: number;
      readonly pid: number;
      readonly at: number;
      readonly files: OutputFiles;
    }
  /** It was taken out of the queue: no process was ever there. */
  | { readonly t: 'dropped'; readonly key: number }
  | TaskEnded
  /** Of any tasks that run; those of one come before its end. Dropped while the pipe is full. */
  | { readonly t: 'usage'; readonly samples: readonly TaskSample[] }
  | { readonly t: 'pong' }
  /** No process was ever there. */
  | ({ readonly t: 'failed'; readonly key: number } & StartFailure);

const taskRepeats = new Repeats<QueueTask>('command', 'shell', 'cwd');
const isQueued = (message: ToSpawner | FromSpawner): message is QueueTask => message.t === 'queue';

function withoutRepeats(messages: readonly (ToSpawner | FromSpawner)[]): readonly object[] {
  const tasks = taskRepeats.leaveOut(messages.filter(isQueued)).values();
  return messages.map((message) => (isQueued(message) ? (tasks.next().value ?? message) : message));
}

/** One line, or several where one would exceed the limit. */
export function encodeFrame(messages: readonly (ToSpawner | FromSpawner)[]): string {
  const line = JSON.stringify(withoutRepeats(messages));
  if (line.length < SPAWNER_LINE_CHARS_MAX) return `${line}\n`;
  if (messages.length === 1) throw new Error(`a message of ${line.length} characters exceeds the limit of a line`);
  const middle = messages.length >> 1;
  return encodeFrame(messages.slice(0, middle)) + encodeFrame(messages.slice(middle));
}

export function decodeFrame<Message extends ToSpawner | FromSpawner>(line: string): Message[] {
  const messages: unknown = JSON.parse(line);
  if (!Array.isArray(messages)) throw new Error('a frame must be an array of messages');
  taskRepeats.restore((messages as (ToSpawner | FromSpawner)[]).filter(isQueued));
  return messages as Message[];
}

/** Cuts a stream of text into lines. Owns the text of the line that has not ended yet. */
export class LineSplitter {
  private pieces: string[] = [];
  private pending = 0;

  push(chunk: string): string[] {
    const parts = chunk.split('\n');
    const rest = parts.pop() ?? '';
    if (parts.length > 0) {
      parts[0] = this.pieces.join('') + parts[0];
      this.pieces = [];
      this.pending = 0;
    }
    this.pieces.push(rest);
    this.pending += rest.length;
    if (this.pending > SPAWNER_LINE_CHARS_MAX) {
      throw new Error(`a line exceeds ${SPAWNER_LINE_CHARS_MAX} characters`);
    }
    return parts;
  }
}
