/** Reasons as `drover why` prints them. */
import { showCount } from '../../model/units.ts';
import type { ReasonGroupView, ReasonView, RootView, TaskWhyView, WorkflowWhyView } from '../../protocol/views/why.ts';
import { amount, printable } from './text.ts';

const step = '  ';

/** Ends with a line feed. */
export function renderTaskWhy({ task, state, reasons, root }: TaskWhyView): string {
  return linesOf([
    `${task} is ${state}:`,
    ...reasons.flatMap((reason) => reasonLines(reason, step)),
    ...(root === undefined ? [] : rootLines(root, '')),
  ]);
}

/** Ends with a line feed. */
export function renderWorkflowWhy(view: WorkflowWhyView): string {
  const { workflow, state, reasons, unended, sampled, groups, more } = view;
  const tasks = unended === 0 ? 'no task of it is left' : `${amount(unended, 'task')} not ended`;
  const looked = sampled === unended ? '' : `, of which ${showCount(sampled)} were looked at`;
  return linesOf([
    `${workflow} is ${state}: ${tasks}${looked}`,
    ...reasons.flatMap((reason) => reasonLines(reason, step)),
    ...groups.flatMap((group) => ['', ...groupLines(group)]),
    ...(more === undefined ? [] : ['', `and ${amount(more.groups, 'more group')}, of ${amount(more.tasks, 'task')}`]),
  ]);
}

/** In one line, for whoever waits: what most of its tasks wait for, and what to do about it. */
export function whyInShort({ workflow, reasons, groups }: WorkflowWhyView): string | undefined {
  const [own] = reasons;
  const [group] = groups;
  const example = group?.example;
  const [first] = example?.root?.reasons ?? example?.reasons ?? [];
  const reason = own ?? first;
  if (reason === undefined) return undefined;
  const who = own === undefined && example !== undefined ? (example.root?.task ?? example.task) : workflow;
  const [command] = reason.advice;
  return printable(`nothing moves: ${who}: ${reason.text}${command === undefined ? '' : `; ${command}`}`);
}

const linesOf = (lines: readonly string[]): string => `${lines.map(printable).join('\n')}\n`;

const reasonLines = ({ text, advice }: ReasonView, indent: string): string[] => [
  `${indent}${text}`,
  ...advice.map((command) => `${indent}${step}${command}`),
];

function rootLines({ task, state, steps, isCut, reasons }: RootView, indent: string): string[] {
  const far = steps === 1 ? 'which it depends on' : `${showCount(steps)} dependencies away`;
  const maybe = isCut ? ', as far as was looked' : '';
  return [
    `${indent}behind that is ${task}, ${far}${maybe}, ${state}:`,
    ...reasons.flatMap((reason) => reasonLines(reason, `${indent}${step}`)),
  ];
}

function groupLines({ count, title, example }: ReasonGroupView): string[] {
  const { task, reasons, root } = example;
  return [
    `${amount(count, 'task')}: ${title}`,
    `${step}such as ${task}:`,
    ...reasons.flatMap((reason) => reasonLines(reason, `${step}${step}`)),
    ...(root === undefined ? [] : rootLines(root, step)),
  ];
}
