/** What failed, grouped by why, each group with what it wrote and the command that tries it again. */
import { showCount } from '../../model/units.ts';
import type { Report } from '../../protocol/report.ts';
import type { FailureGroup } from '../../protocol/views/statistics.ts';
import { amount, barrierText } from '../display/text.ts';
import { html, type Markup, shown, shownLines } from './html.ts';

const hostsShown = 4;

/** As many as leave room for what comes behind; the others can be unfolded. */
const groupsShown = 4;

export function failuresSection({ failures }: Report): Markup | undefined {
  const { groups, more } = failures;
  if (groups.length === 0) return undefined;
  const left =
    more === undefined
      ? undefined
      : html`<p class="note">and ${amount(more.groups, 'more group')}, of ${amount(more.tasks, 'task')}</p>`;
  const folded = groups.slice(groupsShown);
  const rest =
    folded.length === 0
      ? undefined
      : html`<details><summary>${amount(folded.length, 'more group')}, of ${amount(tasksIn(folded), 'task')}</summary>${folded.map(groupOf)}</details>`;
  return html`<h2>Failures <small>grouped by cause and by what was written last</small></h2>${groups.slice(0, groupsShown).map(groupOf)}${rest}${left}`;
}

const tasksIn = (groups: readonly FailureGroup[]): number => groups.reduce((sum, { count }) => sum + count, 0);

function groupOf({ count, title, fingerprint, examples, hosts, lastLines, rerun }: FailureGroup): Markup {
  const [example, ...others] = examples;
  const mark = fingerprint === undefined ? undefined : html` <span class="mark">${fingerprint}</span>`;
  const also =
    others.length === 0
      ? undefined
      : html` <span class="soft">also ${others.map(({ id }) => id).join(', ')}${count > examples.length ? ', …' : ''}</span>`;
  const places = hosts.length === 0 ? undefined : html` <span class="note">on <bdi>${hostsText(hosts)}</bdi></span>`;
  return html`<article class="failure"><h3>${amount(count, 'task')}: ${shown(title)}${mark}${places}</h3>
${example === undefined ? undefined : html`<p>such as ${example.id}${also} <code class="long">${shown(example.command ?? barrierText)}</code></p>`}
${lastLines === undefined ? undefined : html`<pre>${shownLines(lastLines)}</pre>`}
${rerun === undefined ? undefined : html`<p>try ${count === 1 ? 'it' : 'them'} again: <code>${shown(rerun)}</code></p>`}</article>`;
}

function hostsText(hosts: FailureGroup['hosts']): string {
  const told = hosts.slice(0, hostsShown).map(({ host, count }) => `${shown(host)} (${showCount(count)})`);
  return hosts.length > hostsShown ? `${told.join(', ')} and others` : told.join(', ');
}
