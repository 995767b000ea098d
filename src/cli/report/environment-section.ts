/** Where and how it ran, and with which versions. Never the value of a variable: it may be a secret. */
import { printBytes, printDurationMs, showBytes, showCount } from '../../model/units.ts';
import type { Report } from '../../protocol/report.ts';
import { taskVariableNames } from '../../protocol/task-environment.ts';
import { amount } from '../display/text.ts';
import { html, type Markup, shown } from './html.ts';

type Fact = readonly [name: string, value: string | Markup | undefined];

const facts = (rows: readonly Fact[]): Markup =>
  html`<dl class="facts">${rows.filter(([, value]) => value !== undefined).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

const code = (text: string | undefined): Markup | undefined =>
  text === undefined ? undefined : html`<code>${shown(text)}</code>`;

export function environmentSection(report: Report): Markup {
  return html`<h2>Environment</h2><div class="panels"><div class="panel"><h3>Tasks</h3>${tasksFacts(report)}</div><div class="panel"><h3>Controller and versions</h3>${versionFacts(report)}</div></div>`;
}

function tasksFacts({ surroundings }: Report): Markup {
  const {
    cwd,
    shell,
    args,
    attributes,
    maxAttempts,
    timeoutMs,
    terminationMs,
    failFast,
    onLost,
    like,
    outputDir,
    stdin,
  } = surroundings;
  const pairs = (values: Readonly<Record<string, string>> | undefined): Markup | undefined =>
    values === undefined || Object.keys(values).length === 0
      ? undefined
      : code(
          Object.entries(values)
            .map(([name, value]) => `${name}=${value}`)
            .join(' '),
        );
  return facts([
    ['submitted by', code(surroundings.commandLine)],
    ['directory', code(cwd)],
    ['shell', code(shell)],
    ['arguments', pairs(args)],
    ['attributes', pairs(attributes)],
    ['each asks for', code(requestOf(surroundings.resources))],
    ['attempts', `at most ${showCount(maxAttempts)} of a task`],
    ['timeout', timeoutMs === undefined ? undefined : printDurationMs(timeoutMs)],
    ['from TERM to KILL', printDurationMs(terminationMs)],
    ['fail fast', failFast ? 'yes' : undefined],
    ['lost workers', onLost],
    ['updates', code(like)],
    ['output', code(outputDir)],
    ['stdin', code(stdin)],
    [
      'variables',
      html`${amount(surroundings.variables, 'variable')} of the submitter, whose values are not in this report; set by Drover: <code>${taskVariableNames.join(' ')}</code>`,
    ],
  ]);
}

/** As the options of `drover run` have it. */
function requestOf(resources: Report['surroundings']['resources']): string | undefined {
  const { cpus, memoryBytes, gpus, runtimeMs, queue } = resources ?? {};
  const options = [
    ...(cpus === undefined ? [] : [`--cpus ${cpus}`]),
    ...(memoryBytes === undefined ? [] : [`--memory ${printBytes(memoryBytes)}`]),
    ...(gpus === undefined ? [] : [`--gpus ${gpus}`]),
    ...(runtimeMs === undefined ? [] : [`--walltime ${printDurationMs(runtimeMs)}`]),
    ...(queue === undefined ? [] : [`--queue ${queue}`]),
  ];
  return options.length === 0 ? undefined : options.join(' ');
}

function versionFacts({ machine, versions, madeAt }: Report): Markup {
  const { drover, controller, api, node, protocol, store } = versions;
  return facts([
    ['host', code(machine?.host)],
    ['system', machine?.os],
    ['processors', machine === undefined ? undefined : showCount(machine.cpus)],
    ['memory', machine === undefined ? undefined : showBytes(machine.memoryBytes)],
    ['Drover', drover === controller ? drover : `${controller}; this report was made by ${drover}`],
    ['Node', node],
    ['store', store === undefined ? undefined : `schema ${store}`],
    ['protocols', `workers ${protocol ?? '?'}, API ${api}`],
    ['report', `schema 1, made ${madeAt}`],
  ]);
}
