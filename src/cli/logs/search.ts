/** Lines of output that the controller found, as they are shown. */
import { showBytes } from '../../model/units.ts';
import type { SearchEnd, SearchLine } from '../../protocol/views/output.ts';
import type { Client } from '../../sdk/client.ts';
import { addFound, nothingFound, type SearchOptions } from '../../sdk/output.ts';
import { printable, styled } from '../display/text.ts';
import type { CliEnv } from '../environment.ts';
import { type NamedTask, namesMax, type Selection } from './selection.ts';

/** Resolves with what was found in all. */
export async function search(
  env: CliEnv,
  client: Client,
  { tasks, filters }: Selection,
  options: Omit<SearchOptions, 'where' | 'attempt'>,
): Promise<SearchEnd> {
  const total: SearchEnd = { ...nothingFound };
  const printer = new MatchPrinter(env, tasks.length !== 1 || filters.length > 0, (options.context ?? 0) > 0);
  for (const which of [...byName(tasks), ...filters.map((where) => ({ where }))]) {
    const pieces = client.searchOutputPieces({ ...options, ...which });
    for (let next = await pieces.next(); ; next = await pieces.next()) {
      if (next.done === true) {
        addFound(total, next.value);
        break;
      }
      // Who reads may have seen enough.
      if (!(await printer.print(next.value))) {
        await pieces.return(total);
        return { ...total, matches: 1 };
      }
    }
  }
  if (total.missing > 0)
    await env.stderr.write(`drover: ${showBytes(total.missing)} are missing, and were not searched\n`);
  return total;
}

/** The same attempts of many at once. */
function byName(tasks: readonly NamedTask[]): Pick<SearchOptions, 'where' | 'attempt'>[] {
  return [...Map.groupBy(tasks, ({ attempt }) => attempt)].flatMap(([attempt, named]) => {
    const which = attempt === undefined ? {} : { attempt };
    const searches: Pick<SearchOptions, 'where' | 'attempt'>[] = [];
    for (let from = 0; from < named.length; from += namesMax) {
      const names = named.slice(from, from + namesMax).map(({ task }) => task);
      searches.push({ ...which, where: `id=${names.join(',')}` });
    }
    return searches;
  });
}

class MatchPrinter {
  private readonly env: CliEnv;
  private readonly isNamed: boolean;
  private readonly hasContext: boolean;
  private last: SearchLine | undefined;

  constructor(env: CliEnv, isNamed: boolean, hasContext: boolean) {
    this.env = env;
    this.isNamed = isNamed;
    this.hasContext = hasContext;
  }

  print(lines: readonly SearchLine[]): Promise<boolean> {
    const { stdout, variables } = this.env;
    const isColoured = stdout.isTerminal && !variables.NO_COLOR && variables.TERM !== 'dumb';
    return stdout.write(lines.map((line) => this.render(line, stdout.isTerminal, isColoured)).join(''));
  }

  private render(line: SearchLine, isTerminal: boolean, isColoured: boolean): string {
    const isNext = this.last === undefined || isBehind(this.last, line);
    this.last = line;
    const gap = this.hasContext && !isNext ? '--\n' : '';
    const mark = line.stream === 'stderr' ? '!' : '|';
    const place = `${line.task}${line.spans.length > 0 ? ':' : '-'}${line.line} ${mark} `;
    const text = highlighted(line, isTerminal, isColoured);
    return `${gap}${this.isNamed ? styled(place, 'dim', isColoured) : ''}${text}${line.isCut ? ' …' : ''}\n`;
  }
}

const isBehind = (last: SearchLine, { task, stream, line }: SearchLine): boolean =>
  last.task === task && last.stream === stream && line <= last.line + 1;

function highlighted({ text, spans }: SearchLine, isTerminal: boolean, isColoured: boolean): string {
  const safe = isTerminal ? printable : (part: string): string => part;
  let shown = '';
  let at = 0;
  for (const [from, to] of isColoured ? spans : []) {
    shown += safe(text.slice(at, from)) + styled(safe(text.slice(from, to)), 'red', true);
    at = to;
  }
  return shown + safe(text.slice(at));
}
