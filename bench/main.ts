/** `npm run bench`: the table of ratios, measured here and now. */
import { parseArgs } from 'node:util';
import { install } from './install.ts';
import { describeMachine, renderMachine } from './machine.ts';
import { keepReport, type Report, renderReport } from './report.ts';
import type { Contender, Figures, Row } from './row.ts';
import { rows } from './rows/rows.ts';
import { judge, type Sitting, sit, type Turn } from './sitting.ts';
import { showNumber } from './table.ts';
import { Workshop } from './workshop.ts';

const help = `Usage: npm run bench -- [options]

Measures Drover beside its peers and the limit of the machine, in turns (A B C A B C …), and prints one
table of ratios with their targets. Every row takes medians over the rounds. Progress goes to stderr; the table to
stdout and, with all single figures, to bench/results/<date>-<commit>.{json,md}.

Options:
  --rows a,b,h    only these rows (${Object.keys(rows).join(', ')})
  --rounds 3      how often each contender has its turn
  --n 40000       tasks of most rows; smaller ones for a quick look
  --million 1000000  tasks of the rows about a million
  --no-keep       write no files
  --install       install the peers into .bench/ (and with apt, as root), then end
  -h, --help

Examples:
  npm run bench -- --install
  npm run bench                                   all of it: about an hour; the machine should be idle
  npm run bench -- --rows a,b --rounds 5
  npm run bench -- --rows c --n 5000 --rounds 1 --no-keep
  npm run bench -- --rows d,e,f --million 100000

A peer that is not installed is named with the command that installs it, and its cells stay empty. Exit codes: 0 all
targets met, 1 one was missed or not measured, 2 usage, 130 interrupted.
`;

const exitCodes = { ok: 0, missed: 1, usage: 2, interrupted: 130 } as const;
/** Row e measures from the 2,000th task on. */
const millionMin = 10_000;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

interface Options {
  readonly letters: readonly string[];
  readonly rounds: number;
  readonly n: number;
  readonly million: number;
  readonly keeps: boolean;
}

function readOptions(): Options | 'help' | 'install' {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: Object.keys(rows).join(',') },
      rounds: { type: 'string', default: '3' },
      n: { type: 'string', default: '40000' },
      million: { type: 'string', default: '1000000' },
      keep: { type: 'boolean', default: true },
      install: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    allowNegative: true,
  });
  if (values.help) return 'help';
  if (values.install) return 'install';
  const letters = values.rows.split(',').map((letter) => letter.trim());
  const unknown = letters.find((letter) => !(letter in rows));
  if (unknown !== undefined) throw new Error(`there is no row '${unknown}', only ${Object.keys(rows).join(', ')}`);
  if (readCount(values, 'million') < millionMin) throw new Error(`--million needs at least ${millionMin}`);
  const counts = {
    rounds: readCount(values, 'rounds'),
    n: readCount(values, 'n'),
    million: readCount(values, 'million'),
  };
  return { letters, ...counts, keeps: values.keep };
}

function readCount(values: Readonly<Record<string, unknown>>, name: string): number {
  const count = Number(values[name]);
  if (!Number.isInteger(count) || count < 1) throw new Error(`--${name} needs a whole number above 0`);
  return count;
}

async function measureAll(options: Options, workshop: Workshop): Promise<Report> {
  const { letters, rounds, n, million } = options;
  const machine = describeMachine(workshop.folder);
  say(renderMachine(machine));
  const made = letters.flatMap((letter) => rows[letter]?.({ n, million }) ?? []);
  const versions = await versionsOf(
    made.flatMap(({ contenders }) => contenders),
    workshop,
  );
  const sittings: Sitting[] = [];
  for (const row of made) sittings.push(await sitDown(row, rounds, workshop));
  const results = sittings.flatMap((sitting, at) =>
    (made[at]?.comparisons ?? []).map((comparison) => judge(sitting, comparison)),
  );
  const notes = Object.fromEntries(
    made.flatMap(({ letter, contenders }) =>
      contenders.flatMap(({ name, note }) => (note === undefined ? [] : [[`${letter}/${name}`, note]])),
    ),
  );
  return { at: new Date().toISOString(), machine, versions, rounds, n, million, notes, results, sittings };
}

function sitDown(row: Row, rounds: number, workshop: Workshop): Promise<Sitting> {
  const { letter } = row;
  return sit(row, rounds, (contender) => measureAlone(contender, workshop), {
    onTurn: (turn) => say(`row ${letter}, round ${turn.round} of ${rounds}: ${turn.contender}: ${sayTurn(turn)}`),
    onAbsence: ({ contender, why }) => say(`row ${letter}: ${contender} is left out: ${why}`),
  });
}

/** Nothing of it is left for the next one to share the machine with. */
async function measureAlone(contender: Contender, workshop: Workshop): Promise<Figures> {
  try {
    const figures = await contender.measure(workshop);
    await workshop.clear();
    return figures;
  } catch (error) {
    // Its processes were ended by Ctrl-C: that is no result, and the process is about to end.
    if (workshop.isClosing) return new Promise(() => {});
    await workshop.clear();
    throw error;
  }
}

function sayTurn(turn: Turn): string {
  if ('failure' in turn) return `FAILED: ${turn.failure}`;
  const figures = Object.entries(turn.figures).map(([name, value]) => `${name} ${showNumber(value)}`);
  return `${figures.join(', ')} (${turn.tookSeconds.toFixed(1)} s)`;
}

async function versionsOf(contenders: readonly Contender[], workshop: Workshop): Promise<Record<string, string>> {
  const versions: Record<string, string> = {};
  for (const contender of contenders) {
    const { name } = contender;
    if (name in versions || contender.version === undefined || contender.missing?.() !== undefined) continue;
    versions[name] = await contender.version(workshop).catch((error) => `unknown: ${error}`);
  }
  return versions;
}

async function bench(options: Options): Promise<number> {
  const workshop = new Workshop();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, async () => {
      say('interrupted: ending what was started…');
      await workshop.cleanUp();
      process.exit(exitCodes.interrupted);
    });
  }
  try {
    const report = await measureAll(options, workshop);
    process.stdout.write(`${renderReport(report)}\n`);
    if (options.keeps) say(`kept as ${keepReport(report).join(' and ')}`);
    return report.results.every(({ isMet, comparison }) => isMet ?? comparison.target === undefined)
      ? exitCodes.ok
      : exitCodes.missed;
  } finally {
    await workshop.cleanUp();
  }
}

async function main(): Promise<number> {
  let options: ReturnType<typeof readOptions>;
  try {
    options = readOptions();
  } catch (error) {
    say(`bench: ${error instanceof Error ? error.message : error}\n  'npm run bench -- --help' tells more`);
    return exitCodes.usage;
  }
  if (options === 'help') {
    process.stdout.write(help);
    return exitCodes.ok;
  }
  return options === 'install' ? install(say) : bench(options);
}

process.exit(await main());
