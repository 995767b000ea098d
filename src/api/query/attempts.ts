/** A page of attempts, over all tasks, in the order in which they were decided on. */
import type { ControllerShell } from '../../controller/shell.ts';
import { type AttemptRow, attemptRow } from '../../core/attempt/record.ts';
import type { Cluster } from '../../core/cluster.ts';
import { type AttemptId, parseReference } from '../../model/ids.ts';
import { queryLimits } from '../../model/limits.ts';
import type { Clause, Filter } from '../../protocol/filter/language.ts';
import { type AttemptList, AttemptView } from '../../protocol/views/attempts.ts';
import type { CountView } from '../../protocol/views/pages.ts';
import { renderAttempt } from '../render.ts';
import { attemptResources } from '../task-resources.ts';
import { type AttemptValue, attemptValues } from './attempt-values.ts';
import { breath } from './breath.ts';
import { type ListQuery, type Page, pageOf } from './list-query.ts';
import { projectionOf } from './projection.ts';
import { testOf } from './test.ts';

const names = Object.keys(AttemptView.properties) as (keyof AttemptView)[];

type Passes = (row: AttemptRow, cluster: Cluster) => boolean;

interface Found {
  readonly rows: readonly AttemptRow[];
  readonly reached: number | undefined;
}

export async function attemptPage(shell: ControllerShell, filter: Filter, query: ListQuery): Promise<AttemptList> {
  const page = pageOf('attempts', query, ['id', '-id']);
  const projection = projectionOf<AttemptView>(query.fields, names);
  const tests = filter.map((clause): Passes => {
    const [test, value] = [testOf(clause), attemptValues[clause.field.name] as AttemptValue];
    return (row, cluster) => test(value(row, cluster));
  });
  const passes: Passes = (row, cluster) => tests.every((test) => test(row, cluster));
  const candidates = await fewCandidates(shell, filter);
  const { rows, reached } =
    candidates === undefined ? await scan(shell, page, passes) : await pick(shell, page, candidates, passes);
  const resourcesOf = await attemptResources(shell, projection.has('resources') ? rows : []);
  const attempts = await shell.read((cluster) =>
    rows.map((row) => projection.of({ ...renderAttempt(cluster, row), ...resourcesOf(cluster, row) })),
  );
  const count = query.count ? { count: await countOf(shell, candidates, passes) } : {};
  return { attempts, ...page.next(reached), ...count };
}

/** Where the filter names tasks, or states that only live attempts have, no others are looked at. */
async function fewCandidates(shell: ControllerShell, filter: Filter): Promise<AttemptRow[] | undefined> {
  const named = filter.find(
    ({ field, operator }) => (field.name === 'id' || field.name === 'task') && operator === '=',
  );
  if (named !== undefined) return attemptsOf(shell, named.values as string[]);
  if (!filter.some(excludesEnded)) return undefined;
  return shell.read(({ attempts }) => [...attempts.values()].map(attemptRow).sort((a, b) => a.id - b.id));
}

const excludesEnded = ({ field, operator, values }: Clause): boolean =>
  field.name === 'state' && values.includes('ended') === (operator === '!=');

async function attemptsOf(shell: ControllerShell, names: readonly string[]): Promise<AttemptRow[]> {
  const last = await shell.read(({ workflows, tasks }) => {
    const found = new Set<AttemptId>();
    for (const name of names) {
      const reference = parseReference(name);
      const task = reference?.index && workflows.get(reference.workflow)?.task(reference.index);
      const attempt = task ? tasks.lastAttempt(task) : undefined;
      if (attempt !== undefined) found.add(attempt);
    }
    return [...found];
  });
  const rows: AttemptRow[] = [];
  for (const id of last) rows.push(...(await shell.store.attemptsBack(id)));
  return rows.sort((a, b) => a.id - b.id);
}

async function pick(shell: ControllerShell, page: Page, all: AttemptRow[], passes: Passes): Promise<Found> {
  const { after, isDescending, limit } = page;
  const ordered = isDescending ? all.toReversed() : all;
  const isBeyond = ({ id }: AttemptRow): boolean => after === undefined || (isDescending ? id < after : id > after);
  const found = await shell.read((cluster) => ordered.filter((row) => isBeyond(row) && passes(row, cluster)));
  const rows = found.slice(0, limit);
  return { rows, reached: found.length > limit ? rows.at(-1)?.id : undefined };
}

async function scan(shell: ControllerShell, { after, isDescending, limit }: Page, passes: Passes): Promise<Found> {
  const { rowsMax, rowsAtOnce } = queryLimits;
  const found: AttemptRow[] = [];
  let position = after ?? (isDescending ? Number.MAX_SAFE_INTEGER : 0);
  for (let looks = 0; looks < rowsMax; looks += rowsAtOnce) {
    const rows = await shell.store.attemptsFrom(position, rowsAtOnce, isDescending);
    found.push(...(await shell.read((cluster) => rows.filter((row) => passes(row, cluster)))));
    if (found.length > limit) return { rows: found.slice(0, limit), reached: found[limit - 1]?.id };
    if (rows.length < rowsAtOnce) return { rows: found, reached: undefined };
    position = rows.at(-1)?.id ?? position;
    await breath();
  }
  return { rows: found, reached: position };
}

async function countOf(
  shell: ControllerShell,
  candidates: readonly AttemptRow[] | undefined,
  passes: Passes,
): Promise<CountView> {
  if (candidates !== undefined) {
    const matched = await shell.read((cluster) => candidates.filter((row) => passes(row, cluster)).length);
    return { matched, isExact: true };
  }
  const whole: Page = { limit: queryLimits.rowsMax, isDescending: false, after: undefined, next: () => ({}) };
  const { rows, reached } = await scan(shell, whole, passes);
  return { matched: rows.length, isExact: reached === undefined };
}
