/** Why an attempt failed, in one word that people can type: `exit:137`, `signal:9`, `memory`, `lost`. */
import type { Outcome } from './outcome.ts';
import type { FailReason } from './states.ts';

export type FailureCause =
  | `exit:${number}`
  | `signal:${number}`
  | 'memory'
  | 'timeout'
  | 'walltime'
  | 'lost'
  | 'never-started'
  | 'deadline'
  | 'check';

/** Causes that are one word, with what they mean. The last two are of tasks that failed without an attempt. */
export const causeWords = {
  memory: 'out of memory',
  timeout: 'timeout',
  walltime: 'walltime exceeded',
  lost: 'worker lost',
  'never-started': 'not startable',
  deadline: 'not started before its deadline',
  check: 'a task before the barrier failed',
} as const satisfies Partial<Record<FailureCause, string>>;

/** `undefined` for an end that is no failure: success, or what somebody asked for. */
export function causeOf(outcome: Outcome): FailureCause | undefined {
  switch (outcome.kind) {
    case 'exited':
      return `exit:${outcome.code}`;
    case 'signalled':
      return `signal:${outcome.signal}`;
    case 'resource':
      if (outcome.resource === 'memory') return 'memory';
      return outcome.by === 'timeout' ? 'timeout' : 'walltime';
    case 'lost':
      return 'lost';
    case 'never-started':
      return outcome.why === 'retracted' ? undefined : 'never-started';
    case 'succeeded':
    case 'cancelled':
      return undefined;
  }
}

/** Whether a task failed without an attempt: tried again by itself, it would fail at once. */
export const failsAtOnce = (why: FailureCause | FailReason): why is 'deadline' | 'check' =>
  why === 'deadline' || why === 'check';

/** Of a task that failed for what is not the end of its last attempt. */
export const causeOfReason = (reason: FailReason): FailureCause | undefined =>
  failsAtOnce(reason) ? reason : undefined;

const numbered = /^(?:exit|signal):\d{1,3}$/;

export const parseCause = (text: string): FailureCause | undefined =>
  numbered.test(text) || Object.hasOwn(causeWords, text) ? (text as FailureCause) : undefined;

const signalNames: Readonly<Record<string, string>> = {
  ...{ 1: 'HUP', 2: 'INT', 3: 'QUIT', 4: 'ILL', 6: 'ABRT', 7: 'BUS' },
  ...{ 8: 'FPE', 9: 'KILL', 11: 'SEGV', 13: 'PIPE', 14: 'ALRM', 15: 'TERM' },
};

/** For people: `exit 137`, `signal 9 (KILL)`, `out of memory`. */
export function showCause(cause: FailureCause): string {
  if (Object.hasOwn(causeWords, cause)) return causeWords[cause as keyof typeof causeWords];
  const [kind = '', number = ''] = cause.split(':');
  const name = kind === 'signal' ? signalNames[number] : undefined;
  return name === undefined ? `${kind} ${number}` : `${kind} ${number} (${name})`;
}
