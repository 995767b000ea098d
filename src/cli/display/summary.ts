/** How a run ended: for people, with what to do next; for programs, as the last line of JSON. */
import type { WorkflowState } from '../../model/states.ts';
import { showCount, showDuration, showRate } from '../../model/units.ts';
import type { FailureGroup } from '../../protocol/views/statistics.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import { endedOf } from './progress.ts';
import { amount, barrierText, printable, type Style, styled, truncate } from './text.ts';

export interface Summary {
  readonly view: WorkflowView;
  readonly failures: readonly FailureGroup[];
  /** Tasks that were done before this run began. */
  readonly doneBefore: number;
}

const examplesMax = 3;
const groupsMax = 10;
const lastLinesMax = 5;

const stateStyles: Readonly<Record<string, Style>> = {
  done: 'green',
  failed: 'red',
  halted: 'yellow',
  cancelled: 'yellow',
};

export function summaryObject({ view, failures }: Summary) {
  const { total, done, failed, cancelled } = view.counts;
  return {
    id: view.id,
    ...(view.name === undefined ? {} : { name: view.name }),
    state: view.state,
    total,
    done,
    failed,
    cancelled,
    durationMs: view.durationMs,
    run: view.run,
    attempts: view.attemptsEnded,
    ...(failures.length === 0 ? {} : { failures }),
  };
}

const unresumable = ['done', 'cancelled', 'aborted'] as const satisfies readonly WorkflowState[];

/** Ends with a line feed. */
export function renderSummary(
  summary: Summary,
  terminal: { readonly columns: number; readonly isColoured: boolean },
): string {
  const { view, failures } = summary;
  const name = view.name === undefined ? '' : ` (${printable(view.name)})`;
  const state = styled(view.state, stateStyles[view.state] ?? 'bold', terminal.isColoured);
  const lines = [`${view.id}${name} ${state}: ${whatEnded(summary)}`];
  for (const group of failures.slice(0, groupsMax)) lines.push(...renderGroup(group, terminal.columns));
  if (failures.length > groupsMax) lines.push(`  and ${failures.length - groupsMax} more causes`);
  lines.push(...nextSteps(summary));
  return `${lines.join('\n')}\n`;
}

function whatEnded({ view, doneBefore }: Summary): string {
  const { total, done, failed, cancelled } = view.counts;
  const took = `in ${showDuration(view.durationMs)}`;
  const again = doneBefore > 0 ? `, ${showCount(total - doneBefore)} of them in this run,` : '';
  if (view.state === 'done') {
    const rate =
      total - doneBefore > 1 && view.durationMs > 0
        ? ` (${showRate(((total - doneBefore) * 1_000) / view.durationMs)})`
        : '';
    return total === 0 ? 'there was no task' : `${amount(total, 'task')}${again} ${took}${rate}`;
  }
  const left = total - endedOf(view.counts);
  const parts = [
    `${showCount(done)} of ${amount(total, 'task')} done`,
    ...(failed > 0 ? [`${showCount(failed)} failed`] : []),
    ...(cancelled > 0 ? [`${showCount(cancelled)} cancelled`] : []),
    ...(left > 0 ? [`${showCount(left)} left`] : []),
  ];
  return `${parts.join(', ')} ${took}`;
}

function renderGroup({ title, count, examples, lastLines = '' }: FailureGroup, columns: number): string[] {
  const shown = examples.slice(0, examplesMax);
  const more = count - shown.length;
  return [
    `  ${showCount(count)} × ${printable(title)}`,
    ...shown.map(({ id, command = barrierText }) => truncate(`    ${id}  ${printable(command)}`, columns)),
    ...(more > 0 ? [`    and ${showCount(more)} more`] : []),
    ...lastLinesOf(lastLines).map((line) => truncate(`    │ ${printable(line)}`, columns)),
  ];
}

function lastLinesOf(text: string): string[] {
  return text.trimEnd() === '' ? [] : text.trimEnd().split(/\r?\n/).slice(-lastLinesMax);
}

/** Of these nothing has run, so there is no output to look at. */
const hasRun = ({ cause, examples }: FailureGroup): boolean =>
  cause !== 'never-started' && cause !== 'deadline' && examples[0]?.command !== undefined;

/** The lines to type next. */
function nextSteps({ view, failures }: Summary): string[] {
  const example = failures.find(hasRun)?.examples[0]?.id;
  const look = example === undefined ? `show ${view.id} --state failed` : `logs ${example} --stderr`;
  const canResume = !unresumable.some((state) => state === view.state);
  return [
    ...(failures.length === 0 ? [] : [`  look:    drover ${look}`]),
    ...(canResume ? [`  ${view.state === 'failed' ? 'rerun: ' : 'resume:'}  drover resume ${view.id}`] : []),
  ];
}
