/** The entries of a definition's `tasks`, checked: each is a task or an array, with its template, values and links. */
import { tagsMax } from '../model/limits.ts';
import type { EdgeKind } from '../model/states.ts';
import { showCount } from '../model/units.ts';
import { type Axis, arrayOf, type TaskArray } from './array.ts';
import { didYouMean, type Issues, type Path } from './issues.ts';
import { Matching } from './matching.ts';
import type { After, AfterWords, Definition, TaskWords } from './schema.ts';
import { beyond, merged, type Settings, settingsOf } from './settings.ts';
import { argumentName, type Template, templateOf, unknownArgument } from './template.ts';

export type Link =
  | { readonly kind: 'all'; readonly entry: Entry; readonly on: EdgeKind }
  | { readonly kind: 'each'; readonly entry: Entry; readonly on: EdgeKind; readonly matching: Matching }
  /** Of another workflow, or of the one that is added to. */
  | { readonly kind: 'outside'; readonly workflow: string; readonly task: string | number; readonly on: EdgeKind };

export interface Entry {
  readonly name: string;
  readonly path: Path;
  /** Absent for a join. */
  readonly template: Template | undefined;
  readonly array: TaskArray;
  readonly settings: Settings & { readonly held?: true; readonly until?: number };
  readonly links: Link[];
}

/** What all entries share. */
export interface Common {
  readonly templates: ReadonlyMap<string, Template>;
  readonly templateSettings: ReadonlyMap<string, Settings>;
  /** Of the workflow and its tool. */
  readonly settings: Settings;
  /** Of the workflow. */
  readonly args: ReadonlyMap<string, string>;
  /** The workflow that these tasks are added to: names that are not here may be there. */
  readonly addedTo: string | undefined;
}

export function commonOf(
  definition: Definition,
  args: ReadonlyMap<string, string>,
  addedTo: string | undefined,
  issues: Issues,
): Common {
  const { tool, defaults = {}, tags, attributes: _, templates = {} } = definition;
  const ofTool = typeof tool === 'object' ? settingsOf(tool, ['tool'], issues) : {};
  const ofWorkflow = settingsOf(defaults, ['defaults'], issues);
  const settings = merged(merged(ofTool, ofWorkflow), tags === undefined ? {} : { tags });
  const named = Object.entries(templates);
  return {
    settings,
    args,
    addedTo,
    templates: new Map(
      named.map(([name, words]) => [name, templateOf(name, words, ['templates', name], issues)] as const),
    ),
    templateSettings: new Map(
      named.map(([name, words]) => [name, settingsOf(words, ['templates', name], issues)] as const),
    ),
  };
}

export function entriesOf({ tasks }: Definition, common: Common, limits: ExpansionLimits, issues: Issues): Entry[] {
  const byName = new Map<string, Entry>();
  const entries: Entry[] = [];
  const byPlace = new Map<number, Entry>();
  tasks.forEach((words, at) => {
    const path = ['tasks', at];
    const name = words.name ?? words.template;
    if (name === undefined) {
      issues.add(path, "lacks 'name'");
      return;
    }
    checkName(name, words.name === undefined ? path : [...path, 'name'], byName, issues);
    const entry = entryOf(name, words, path, common, issues);
    entries.push(entry);
    byPlace.set(at, entry);
    if (!byName.has(name)) byName.set(name, entry);
  });
  // Partners are looked for value by value: not in lists that are far too long.
  if (!checkExpansion(entries, limits, issues)) return entries;
  tasks.forEach(({ after }, at) => {
    const entry = byPlace.get(at);
    if (entry !== undefined) entry.links.push(...linksOf(after, entry, byName, common, issues));
  });
  return entries;
}

function checkName(name: string, path: Path, byName: ReadonlyMap<string, Entry>, issues: Issues): void {
  if (/[[\]]|\p{Cc}/u.test(name)) issues.add(path, `'${name}': a name has no brackets and no control characters`);
  const before = byName.get(name);
  if (before === undefined) return;
  issues.add(path, `there is a task '${name}' already, tasks[${before.path[1]}]; give one of them another name`);
}

function entryOf(name: string, words: TaskWords, path: Path, common: Common, issues: Issues): Entry {
  const template = templateFor(words, path, common, issues);
  const array = arrayOf(words.args);
  for (const axis of array.axes) checkAxis(axis, words.args, path, issues);
  checkArguments(words.args, template, common, path, issues);
  const ofTemplate = common.templateSettings.get(words.template ?? '') ?? {};
  const own = merged(ofTemplate, settingsOf(words, path, issues));
  const until = words.until === undefined ? undefined : timeOf(words.until, [...path, 'until'], issues);
  const settings = withLabels(common.settings, beyond(common.settings, own));
  if (Object.keys(settings.tags ?? {}).length > tagsMax) issues.add([...path, 'tags'], `more than ${tagsMax} tags`);
  return {
    ...{ name, path, template, array, links: [] },
    settings: { ...settings, ...(words.held ? { held: true } : {}), ...(until === undefined ? {} : { until }) },
  };
}

/** A workflow has no tags, priorities and the like of its own: they are written to each of its tasks. */
function withLabels({ resources: _, maxAttempts: __, timeoutMs: ___, ...rest }: Settings, own: Settings): Settings {
  return merged(rest, own);
}

function timeOf(text: string, path: Path, issues: Issues): number | undefined {
  const time = Date.parse(text);
  if (Number.isFinite(time) && time >= 0 && /^\d{4}-/.test(text)) return time;
  issues.add(path, `'${text}' is no time: write it like 2030-01-31T18:00:00Z`);
  return undefined;
}

function templateFor(words: TaskWords, path: Path, { templates }: Common, issues: Issues): Template | undefined {
  const { template: name, command } = words;
  if (name !== undefined && command !== undefined) issues.add([...path, 'command'], 'has a template, too: choose one');
  if (name !== undefined) {
    const template = templates.get(name);
    if (template === undefined) {
      issues.add([...path, 'template'], `there is no template '${name}'${didYouMean(name, templates.keys())}`);
    }
    return template;
  }
  return command === undefined ? undefined : templateOf(undefined, { command }, path, issues);
}

function checkAxis(axis: Axis, args: TaskWords['args'], path: Path, issues: Issues): void {
  const place = Array.isArray(args) ? [...path, 'args'] : [...path, 'args', ...axis.names];
  if (axis.count === 0) return issues.add(place, 'has no value: there would be no task');
  if (Array.isArray(args)) {
    const names = axis.names.join(', ');
    args.forEach((row, at) => {
      if (
        Object.keys(row).join() !== axis.names.join() &&
        Object.keys(row).toSorted().join() !== axis.names.toSorted().join()
      )
        issues.add([...place, at], `has other arguments than the first one: ${names}`);
    });
  } else if (!Array.isArray(args?.[axis.names[0] ?? ''])) return;
  const seen = new Map<string, number>();
  for (let at = 0; at < axis.count; at++) {
    const key = JSON.stringify(axis.at(at));
    const before = seen.get(key);
    if (before === undefined) seen.set(key, at);
    else issues.add([...place, at], `the same as [${before}]: two tasks would be one and the same`);
  }
}

function checkArguments(
  args: TaskWords['args'],
  template: Template | undefined,
  { args: ofWorkflow }: Common,
  path: Path,
  issues: Issues,
): void {
  const rows = Array.isArray(args) ? args : [args ?? {}];
  const given = new Set(rows.slice(0, 1).flatMap((row) => Object.keys(row)));
  const place = Array.isArray(args) ? [...path, 'args', 0] : [...path, 'args'];
  for (const name of given) {
    if (template === undefined) issues.add([...place, name], 'a task without a command takes no arguments');
    else if (!template.placeholders.has(name))
      issues.add([...place, name], unknownArgument(name, template.placeholders));
    else if (!argumentName.test(name)) issues.add([...place, name], `'${name}' is no name of an argument`);
  }
  for (const name of template?.placeholders ?? []) {
    if (given.has(name) || template?.args.has(name) || ofWorkflow.has(name)) continue;
    const near = didYouMean(name, [...given, ...ofWorkflow.keys()]) || `; to mean the text itself, write {{${name}}}`;
    issues.add(args === undefined ? path : [...path, 'args'], `the placeholder {${name}} has no value${near}`);
  }
}

function linksOf(
  after: After | undefined,
  entry: Entry,
  byName: ReadonlyMap<string, Entry>,
  common: Common,
  issues: Issues,
): Link[] {
  const isList = Array.isArray(after);
  const entries = after === undefined ? [] : isList ? after : [after];
  return entries.flatMap((words, at) => {
    const path = isList ? [...entry.path, 'after', at] : [...entry.path, 'after'];
    const link = linkOf(typeof words === 'string' ? { task: words } : words, path, entry, byName, common, issues);
    return link === undefined ? [] : [link];
  });
}

function linkOf(
  { task, each, workflow, on = 'success' }: AfterWords,
  path: Path,
  entry: Entry,
  byName: ReadonlyMap<string, Entry>,
  { addedTo }: Common,
  issues: Issues,
): Link | undefined {
  if ((task === undefined) === (each === undefined) || (workflow !== undefined && task === undefined)) {
    issues.add(path, "names either a 'task', of this workflow or of another, or an array by 'each'");
    return undefined;
  }
  if (workflow !== undefined && task !== undefined) return { kind: 'outside', workflow, task, on };
  const name = String(task ?? each);
  const found = byName.get(name);
  if (found === undefined) {
    if (addedTo !== undefined && task !== undefined) return { kind: 'outside', workflow: addedTo, task, on };
    issues.add(path, `there is no task '${name}'${didYouMean(name, byName.keys())}`);
    return undefined;
  }
  if (each === undefined) return { kind: 'all', entry: found, on };
  const matching = new Matching(found.array, entry.array);
  if (!checkMatching(matching, name, path, issues)) return undefined;
  return { kind: 'each', entry: found, on, matching };
}

/** Every task finds a partner. */
function checkMatching(matching: Matching, name: string, path: Path, issues: Issues): boolean {
  if (matching.shared.size === 0) {
    issues.add(
      path,
      `'${name}' has no list of values for an argument that this task has, too; without 'each' it waits for all`,
    );
    return false;
  }
  const unmatched = matching.unmatched();
  if (unmatched !== undefined) issues.add(path, `'${name}' has no task with ${unmatched}`);
  return unmatched === undefined;
}

export interface ExpansionLimits {
  /** More are hardly meant, unless that is said. */
  readonly meant: number;
  /** More are not taken, whatever is said. */
  readonly most: number;
}

function checkExpansion(entries: readonly Entry[], { meant, most }: ExpansionLimits, issues: Issues): boolean {
  const total = entries.reduce((sum, { array }) => sum + array.count, 0);
  const limit = Math.min(meant, most);
  const [first] = entries;
  if (total <= limit || first === undefined) return true;
  const largest = entries.reduce((max, entry) => (entry.array.count > max.array.count ? entry : max), first);
  const lists = largest.array.axes.map(({ names, count }) => `${names.join('+')} (${showCount(count)})`).join(' × ');
  const what = lists === '' ? '' : `: '${largest.name}' has ${showCount(largest.array.count)}, ${lists}`;
  const remedy =
    limit < meant
      ? "so many are compiled where they are defined: by 'drover submit', or by the SDK"
      : `if so many are meant, say maxTasks: ${total}, or --max-tasks ${total}`;
  const path = lists === '' ? ['tasks'] : [...largest.path, 'args'];
  issues.add(path, `${showCount(total)} tasks, more than ${showCount(limit)}${what}; ${remedy}`);
  return false;
}
