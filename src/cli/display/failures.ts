/** Groups of failures as `drover failures` prints them. */
import { showCount } from '../../model/units.ts';
import type { FailureGroup, FailureList } from '../../protocol/views/statistics.ts';
import { amount, barrierText, printable, truncate } from './text.ts';

const hostsShown = 4;

/** Ends with a line feed. `columns` is the width of a terminal; elsewhere nothing is cut. */
export function renderFailures({ groups, more }: FailureList, columns: number | undefined): string {
  const lines = groups.flatMap((group) => [...renderGroup(group, columns), '']);
  if (more !== undefined) lines.push(`and ${amount(more.groups, 'more group')}, of ${amount(more.tasks, 'task')}`);
  else lines.pop();
  return `${lines.join('\n')}\n`;
}

/** The command is whole however narrow the terminal is: a part of it would try other tasks again. */
function renderGroup(group: FailureGroup, columns: number | undefined): string[] {
  const lines = describe(group).map((line) => (columns === undefined ? line : truncate(line, columns)));
  return group.rerun === undefined ? lines : [...lines, `  rerun   ${printable(group.rerun)}`];
}

function describe({ count, title, fingerprint, examples, hosts, lastLines }: FailureGroup): string[] {
  const [example] = examples;
  const mark = fingerprint === undefined ? '' : `  [${fingerprint}]`;
  const written = lastLines === undefined ? [] : lastLines.split(/\r?\n/);
  return [
    `${amount(count, 'task')}: ${printable(title)}${mark}`,
    ...(hosts.length === 0 ? [] : [`  on      ${hostsText(hosts)}`]),
    ...(example === undefined ? [] : [`  such as ${example.id}  ${printable(example.command ?? barrierText)}`]),
    ...written.map((line) => `          | ${printable(line)}`),
  ];
}

function hostsText(hosts: FailureGroup['hosts']): string {
  const shown = hosts.slice(0, hostsShown).map(({ host, count }) => `${printable(host)} (${showCount(count)})`);
  return hosts.length > hostsShown ? `${shown.join(', ')} and others` : shown.join(', ');
}
