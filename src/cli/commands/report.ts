/** `drover report` */
import { resolve } from 'node:path';
import { DroverError, exitCodes } from '../../model/errors.ts';
import { showBytes } from '../../model/units.ts';
import { reportKind } from '../../protocol/report.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, withClient } from '../context.ts';
import { amount } from '../display/text.ts';
import type { CliEnv } from '../environment.ts';
import { workflowNamed } from '../reference.ts';
import { gatherReport } from '../report/gather.ts';
import { pageMark, reportPage } from '../report/page.ts';

export interface ReportOptions extends CommonOptions {
  /** `-`: to stdout. */
  readonly output?: string;
  readonly force?: boolean;
  readonly open?: boolean;
}

export function report(context: Context, name: string | undefined, options: ReportOptions): Promise<number> {
  const { env } = context;
  const named = name === undefined ? undefined : workflowNamed(name);
  const isJson = options.json === true || options.output?.endsWith('.json') === true;
  const given = options.output ?? (isJson ? '-' : undefined);
  if (options.open && (isJson || given === '-')) {
    throw new DroverError('bad-input', '--open shows a page in a file', { hint: 'leave out --json and -o -' });
  }
  return withClient(context, options, async (client) => {
    const id = named ?? (await newest(client));
    const output = given ?? `report-${id}.html`;
    // Before what may take a while.
    if (output !== '-' && !options.force) await mustBeReport(env, output);
    const told = await gatherReport(client, id, { now: Date.now(), version: env.version });
    const text = isJson ? `${JSON.stringify(told)}\n` : reportPage(told, (script) => env.digest(script));
    if (output === '-') await env.stdout.write(text);
    else {
      await env.writeFile(resolve(env.cwd, output), [text]);
      const size = showBytes(Buffer.byteLength(text));
      const attempts = amount(told.attempts.total, 'attempt');
      const state = told.isLive ? `${id} so far` : id;
      await env.stderr.write(`drover: ${output} tells of ${state}: ${attempts}, ${size}\n`);
      if (options.open) await openPage(env, resolve(env.cwd, output));
    }
    return exitCodes.ok;
  });
}

async function newest(client: Client): Promise<string> {
  for await (const { id } of client.eachWorkflow({ limit: 1 })) return id;
  throw new DroverError('workflow-unknown', 'there is no workflow here yet', {
    hint: "start something with 'drover run', or name a folder with --dir",
  });
}

const jsonMark = `{"kind":"${reportKind}"`;
/** A mark is within the first so many bytes. */
const headBytesMax = 1_024;
const unreadable = '\0';

/** What is replaced is a report, or nothing. */
async function mustBeReport(env: CliEnv, output: string): Promise<void> {
  const path = resolve(env.cwd, output);
  const kind = env.kindOf(path);
  // A device or a pipe has nothing to lose, and reading one may take for ever.
  if (kind === 'missing' || path.startsWith('/dev/')) return;
  if (kind === 'directory') {
    throw new DroverError('bad-input', `${output} is a directory`, { hint: 'name a file with -o' });
  }
  const head = await headOf(env, path);
  if (head === '' || head.startsWith(jsonMark) || head.includes(pageMark)) return;
  throw new DroverError('bad-input', `${output} is there, and is no report of Drover`, {
    hint: 'name another file with -o, or replace it with --force',
  });
}

/** What can't be read is no report. */
async function headOf(env: CliEnv, path: string): Promise<string> {
  try {
    for await (const bytes of env.readFile(path)) return new TextDecoder().decode(bytes.subarray(0, headBytesMax));
    return '';
  } catch {
    return unreadable;
  }
}

/** The desktop's way first. One that stays is a browser and is not waited for; one that fails soon has none, and the next is tried. */
const openLine = `
for one in xdg-open open wslview $BROWSER; do
  command -v "$one" >/dev/null 2>&1 || continue
  "$one" "$DROVER_REPORT" >/dev/null 2>&1 &
  tries=20
  while kill -0 $! 2>/dev/null; do
    [ $tries -gt 0 ] || exit 0
    tries=$((tries - 1))
    sleep 0.1
  done
  wait $! && exit 0
done
exit 1`;

/** Of all that are tried. */
const openMsMax = 15_000;

async function openPage(env: CliEnv, path: string): Promise<void> {
  const code = await env.runShell(openLine, { DROVER_REPORT: path }, openMsMax);
  if (code !== 0) await env.stderr.write(`drover: no browser could be started here; open ${path} in one\n`);
}
