/** How the end of a workflow is told: its result on stdout, its summary on stderr, or both as one line of JSON. */
import type { Client } from '../sdk/client.ts';
import { printJson } from './context.ts';
import { renderSummary, type Summary, summaryObject } from './display/summary.ts';
import type { CliEnv } from './environment.ts';
import { isColoured, type Reporter, type Voice } from './reporter.ts';
import { printResults } from './results.ts';

export async function printConclusion(
  env: CliEnv,
  voice: Voice,
  client: Client,
  summary: Summary,
  reporter: Reporter,
): Promise<void> {
  const isDone = summary.view.state === 'done';
  if (voice === 'human' && isDone) {
    await printResults(client, summary.view, env.stdout, (text) => reporter.note(`drover: ${text}`));
  }
  await printSummary(env, voice, summary);
}

export async function printSummary(env: CliEnv, voice: Voice, summary: Summary): Promise<void> {
  const isDone = summary.view.state === 'done';
  if (voice === 'json') await printJson(env, summaryObject(summary));
  if (voice === 'human' || (voice === 'quiet' && !isDone)) {
    const { columns, isTerminal } = env.stderr;
    const terminal = { columns: isTerminal ? columns : 200, isColoured: isColoured(env) };
    await env.stderr.write(renderSummary(summary, terminal));
  }
}
