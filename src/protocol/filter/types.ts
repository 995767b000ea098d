/** The types of fields: how they are compared, and how their values are written. One place for parser, docs and refusals. */
import { parseCause } from '../../model/failure-cause.ts';
import { parseReference, printAttempt, printTask } from '../../model/ids.ts';
import { parseBytes, parseDurationMs } from '../../model/units.ts';

export const operators = ['=', '!=', '<', '<=', '>', '>=', '~'] as const;
export type Operator = (typeof operators)[number];

/** Numbers for what has an order (times in ms since the epoch), words for what has none. */
export type FilterValue = string | number | boolean;

export interface TypeOfField {
  /** With its article, for messages. */
  readonly noun: string;
  readonly expects: string;
  readonly operators: readonly Operator[];
  /** Those that take several values. */
  readonly lists: readonly Operator[];
  /** `undefined` for what is none. */
  parse(text: string, now: number, words: readonly string[]): FilterValue | undefined;
}

const equality: readonly Operator[] = ['=', '!='];
const order: readonly Operator[] = ['<', '<=', '>', '>='];
const measured = { operators: [...equality, ...order], lists: equality };
const named = { operators: equality, lists: equality };

const parseInteger = (text: string): number | undefined => {
  const value = Number(text);
  return /^-?\d{1,16}$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
};

const parseDecimal = (text: string): number | undefined =>
  /^-?\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : undefined;

const isoPattern = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** `-1h` is an hour ago. */
function parseTime(text: string, now: number): number | undefined {
  if (text.startsWith('-')) {
    const ago = parseDurationMs(text.slice(1));
    return ago === undefined ? undefined : now - ago;
  }
  const time = isoPattern.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function parseWorkflow(text: string): number | undefined {
  const reference = parseReference(text);
  return reference?.index === undefined ? reference?.workflow : undefined;
}

function parseTask(text: string): string | undefined {
  const reference = parseReference(text);
  if (reference?.index === undefined || reference.attempt !== undefined) return undefined;
  return printTask(reference.workflow, reference.index);
}

function parseAttempt(text: string): string | undefined {
  const reference = parseReference(text);
  if (reference?.index === undefined || reference.attempt === undefined) return undefined;
  return printAttempt(reference.workflow, reference.index, reference.attempt);
}

export const fieldTypes = {
  enum: {
    noun: 'one of its words',
    expects: 'one of its words',
    ...named,
    parse: (text, _, words) => (words.includes(text) ? text : undefined),
  },
  integer: { noun: 'a whole number', expects: 'a whole number such as 3', ...measured, parse: parseInteger },
  number: { noun: 'a number', expects: 'a number such as 3 or 0.5', ...measured, parse: parseDecimal },
  bytes: {
    noun: 'a size',
    expects: 'a size such as 100MB or 1.5GiB; a bare number is bytes',
    ...measured,
    parse: parseBytes,
  },
  duration: {
    noun: 'a duration',
    expects: 'a duration such as 90s, 2h30m or 250ms; a bare number is seconds',
    ...measured,
    parse: parseDurationMs,
  },
  time: {
    noun: 'a time',
    expects: 'a time such as 2026-01-31, 2026-01-31T12:00:00Z or, an hour ago, -1h',
    operators: order,
    lists: [],
    parse: parseTime,
  },
  text: {
    noun: 'a text',
    expects: 'a text; ~ finds it anywhere within',
    operators: [...equality, '~'],
    lists: [...equality, '~'],
    parse: (text) => text,
  },
  boolean: {
    noun: 'true or false',
    expects: 'true or false',
    operators: ['='],
    lists: [],
    parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  },
  cause: {
    noun: 'a cause of failures',
    expects: 'exit:N, signal:N, memory, timeout, walltime, lost, never-started, deadline or check',
    ...named,
    parse: parseCause,
  },
  fingerprint: {
    noun: 'a fingerprint',
    expects: 'a fingerprint such as f3a9, as failures have it; none for what has none',
    ...named,
    parse: (text) => (/^(?:[0-9a-f]{4,8}|none|other)$/.test(text) ? text : undefined),
  },
  workflow: { noun: 'a workflow', expects: 'a workflow such as w3', ...named, parse: parseWorkflow },
  task: { noun: 'a task', expects: 'a task such as w3.14', ...named, parse: parseTask },
  attempt: { noun: 'an attempt', expects: 'an attempt such as w3.14#2', ...named, parse: parseAttempt },
  worker: {
    noun: 'a worker',
    expects: 'a worker such as k3',
    ...named,
    parse: (text) => (/^k[1-9]\d{0,8}$/.test(text) ? Number(text.slice(1)) : undefined),
  },
} as const satisfies Record<string, TypeOfField>;

export type FieldType = keyof typeof fieldTypes;

export const typeOfField = (type: FieldType): TypeOfField => fieldTypes[type];
