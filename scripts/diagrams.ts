/**
 * Writes the tables of docs/STATE-MACHINES.md from those of src/core, the tables of docs/API.md from those of filters, what the document of
 * the API says of schemas from their comments, and the schema of definitions, so that none can differ from the code. `--check` only says
 * whether they are up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { attemptTable } from '../src/core/attempt/table.ts';
import { taskTable } from '../src/core/task/table.ts';
import { workflowTable } from '../src/core/workflow/table.ts';
import { withFieldTables } from './api-fields.ts';
import { definitionSchema } from './definition-schema.ts';
import { schemaComments } from './schema-comments.ts';

type AnyTable = Readonly<
  Record<string, Readonly<Record<string, { readonly by: readonly string[]; readonly to: readonly string[] }>>>
>;

const path = join(import.meta.dirname, '..', 'docs', 'STATE-MACHINES.md');

/** One arrow per pair of states, with all the commands that lead along it. */
function diagram(table: AnyTable): string {
  const lines = ['```mermaid', 'stateDiagram-v2', '  direction LR'];
  const [first] = Object.keys(table);
  lines.push(`  [*] --> ${first}`);
  for (const [state, cells] of Object.entries(table)) {
    const arrows = new Map<string, string[]>();
    for (const [command, { to }] of Object.entries(cells)) {
      for (const target of to) arrows.set(target, [...(arrows.get(target) ?? []), command]);
    }
    for (const [target, commands] of arrows) lines.push(`  ${state} --> ${target}: ${commands.join(', ')}`);
    if (arrows.size === 0) lines.push(`  ${state} --> [*]`);
  }
  return [...lines, '```'].join('\n');
}

/** Who may cause what. */
function roles(table: AnyTable): string {
  const rows = ['| from | command | by | to |', '|---|---|---|---|'];
  for (const [state, cells] of Object.entries(table)) {
    for (const [command, { by, to }] of Object.entries(cells)) {
      if (to.length > 0) rows.push(`| ${state} | ${command} | ${by.join(', ')} | ${to.join(', ')} |`);
    }
  }
  return rows.join('\n');
}

const section = (title: string, table: AnyTable): string => `## ${title}\n\n${diagram(table)}\n\n${roles(table)}\n`;

/** What is written by hand comes before this mark, and stays. */
const mark = '<!-- made by npm run diagrams; do not edit below -->';

const withTables = (text: string): string =>
  [
    `${text.split(mark)[0] ?? ''}${mark}`,
    '',
    section('Task', taskTable),
    section('Attempt', attemptTable),
    section('Workflow', workflowTable),
  ].join('\n');

const present = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A missing file is a stale one.
    return '';
  }
};

const apiPath = join(import.meta.dirname, '..', 'docs', 'API.md');
const commentsPath = join(import.meta.dirname, '..', 'src', 'api', 'openapi', 'descriptions.json');
const schemaPath = join(import.meta.dirname, '..', 'schema', 'workflow.schema.json');
const generated = [
  [path, withTables(present(path))],
  [apiPath, withFieldTables(present(apiPath))],
  [commentsPath, `${JSON.stringify(schemaComments(), null, 2)}\n`],
  [schemaPath, definitionSchema()],
] as const;

for (const [file, content] of generated) {
  if (!process.argv.includes('--check')) writeFileSync(file, content);
  else if (present(file) !== content) {
    process.stderr.write(`${basename(file)} is stale: run \`npm run diagrams\`\n`);
    process.exitCode = 1;
  }
}
