/** What a run of the bench leaves: the table for people, and every single figure for whoever doubts it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, renderMachine } from './machine.ts';
import type { Result, Sitting } from './sitting.ts';
import { renderRemarks, renderTable } from './table.ts';
import { root } from './tools.ts';

export interface Report {
  readonly at: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly rounds: number;
  readonly n: number;
  readonly million: number;
  /** By row and contender: `a/parallel`. */
  readonly notes: Readonly<Record<string, string>>;
  readonly results: readonly Result[];
  readonly sittings: readonly Sitting[];
}

export function renderReport(report: Report): string {
  const { results, sittings, notes, versions, rounds, n, million } = report;
  const remarks = renderRemarks(results, sittings);
  const peers = Object.entries(versions).map(([name, version]) => `- ${name}: ${version}`);
  return [
    `# Bench of ${report.at}`,
    renderMachine(report.machine),
    `N = ${n.toLocaleString('en')}, the million = ${million.toLocaleString('en')}; values are medians of ${rounds} interleaved rounds, ratios the medians of the rounds' ratios.`,
    renderTable(results, notes),
    ...(remarks === '' ? [] : [`Not measured, or failed:\n\n${remarks}`]),
    ...(peers.length === 0 ? [] : [`Versions:\n\n${peers.join('\n')}`]),
  ].join('\n\n');
}

/** Returns the paths. */
export function keepReport(report: Report): string[] {
  const folder = join(root, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  const stamp = report.at.slice(0, 19).replace('T', '-').replaceAll(':', '');
  const base = join(folder, `${stamp}-${report.machine.commit}`);
  writeFileSync(`${base}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${base}.md`, `${renderReport(report)}\n`);
  return [`${base}.json`, `${base}.md`];
}
