/** An event as a line for people: when, of what, what happened. */
import type { OutcomeView } from '../../protocol/views/attempts.ts';
import type { EventView } from '../../protocol/views/events.ts';
import { describeOutcome } from './details.ts';
import { amount, printable, type Style, styled } from './text.ts';
import { showTime } from './time.ts';

interface Telling {
  readonly of: string;
  readonly what: string;
  readonly style?: Style;
  /** A step on the way to another one that is told. */
  readonly isStep?: boolean;
}

/** `undefined` for one that only `all` shows. */
export function renderEvent(event: EventView, isColoured: boolean, all: boolean): string | undefined {
  const { of, what, style, isStep = false } = tellingOf(event);
  if (isStep && !all) return undefined;
  const milliseconds = event.at.slice(-4, -1);
  const shown = printable(what);
  return `${showTime(event.at)}.${milliseconds}  ${of.padEnd(8)}  ${style === undefined ? shown : styled(shown, style, isColoured)}`;
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const because = (reason: unknown): string => (text(reason) === '' ? '' : `: ${text(reason)}`);

function tellingOf(event: EventView): Telling {
  const { type, workflow = '', worker = '' } = event;
  if (type.startsWith('task')) return taskTelling(event);
  if (type.startsWith('attempt')) return attemptTelling(event);
  if (type === 'workflow-moved') return workflowTelling(event);
  if (type === 'workflow-registered') return { of: workflow, what: 'is being registered' };
  if (type === 'workflow-stopping') return { of: workflow, what: `the rest is being cancelled${because(event.stop)}` };
  if (type === 'workflow-halt-mode') return { of: workflow, what: `is being halted${because(event.mode)}` };
  if (type === 'worker-joined') return { of: worker, what: `joined: ${text(event.host)}, ${text(event.slots)} slots` };
  if (type === 'worker-gone') return { of: worker, what: `is gone${because(event.why)}`, style: 'yellow' };
  if (type === 'worker-resized') return { of: worker, what: `has ${text(event.slots)} slots` };
  if (type === 'worker-barred') return barTelling(event);
  return { of: workflow || worker, what: type, isStep: true };
}

const styles: Readonly<Record<string, Style>> = { done: 'green', failed: 'red', cancelled: 'yellow', halted: 'yellow' };
const styleOf = (state: string): Pick<Telling, 'style'> => {
  const style = styles[state];
  return style === undefined ? {} : { style };
};

const stepsOfTasks = ['waiting', 'launched', 'triaging', 'adjusting'];

function taskTelling({ type, workflow = '', task = workflow, to, reason, change, host, ...event }: EventView): Telling {
  if (type === 'tasks-added') return { of: workflow, what: `${amount(Number(event.count), 'task')} added` };
  if (type !== 'task-changed') return { of: task, what: type, isStep: true };
  if (change !== 'moved') return { of: task, what: text(change), isStep: change === 'refunded' };
  const place = to === 'running' && text(host) !== '' ? ` on ${text(host)}` : '';
  const state = text(to);
  return {
    of: task,
    what: `${state}${place}${because(reason)}`,
    ...styleOf(state),
    isStep: stepsOfTasks.includes(state),
  };
}

function attemptTelling({ type, attempt = '', outcome, host }: EventView): Telling {
  if (type !== 'attempt-ended') return { of: attempt, what: type.replace('attempt-', ''), isStep: true };
  const how = outcome as OutcomeView;
  const isGood = how.kind === 'succeeded';
  return { of: attempt, what: `ended on ${text(host)}: ${describeOutcome(how)}`, isStep: isGood };
}

const stepsOfWorkflows = ['instantiating', 'launched'];

function workflowTelling({ workflow = '', to }: EventView): Telling {
  const state = text(to);
  return { of: workflow, what: `is ${state}`, ...styleOf(state), isStep: stepsOfWorkflows.includes(state) };
}

function barTelling({ worker = '', bar }: EventView): Telling {
  const { kind } = (bar ?? {}) as { readonly kind?: string };
  if (kind === undefined) return { of: worker, what: 'gets tasks again' };
  return { of: worker, what: `gets no tasks: ${kind}`, style: 'yellow' };
}
