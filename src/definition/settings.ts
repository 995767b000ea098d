/** How tasks run: words and units of people become those of the protocol, and later words count before earlier ones. */
import { durationExamples, parseBytes, parseDurationMs } from '../model/units.ts';
import type { Resources, TaskSpec } from '../protocol/spec.ts';
import type { Issues, Path } from './issues.ts';
import type { Defaults, NeedWords, Size, Time } from './schema.ts';

/** Fields of a task that can have defaults. */
export type Settings = Pick<
  TaskSpec,
  'resources' | 'maxAttempts' | 'timeoutMs' | 'priority' | 'expectedDurationMs' | 'tags' | 'attributes'
>;

const durationMsMax = 10 * 366 * 86_400_000;
const sizeExamples = '2GB, 512MiB, 1.5TB; a bare number means bytes';

export function sizeOf(size: Size, path: Path, issues: Issues): number | undefined {
  const bytes = parseBytes(String(size));
  if (bytes === undefined) issues.add(path, `'${size}' is no size: write it like ${sizeExamples}`);
  return bytes;
}

export function timeOf(time: Time, path: Path, issues: Issues, minMs = 1): number | undefined {
  const ms = parseDurationMs(String(time));
  if (ms !== undefined && ms >= minMs && ms <= durationMsMax) return ms;
  issues.add(path, `'${time}' is no time that can be waited for: write it like ${durationExamples}`);
  return undefined;
}

export function settingsOf(words: Defaults, path: Path, issues: Issues): Settings {
  const { resources, retries, timeout, priority, expectedDuration, tags, attributes } = words;
  const timeoutMs = timeout === undefined ? undefined : timeOf(timeout, [...path, 'timeout'], issues);
  const expectedDurationMs =
    expectedDuration === undefined ? undefined : timeOf(expectedDuration, [...path, 'expectedDuration'], issues);
  return {
    ...(resources === undefined ? {} : { resources: resourcesOf(resources, [...path, 'resources'], issues) }),
    ...(retries === undefined ? {} : { maxAttempts: retries + 1 }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(priority === undefined ? {} : { priority }),
    ...(expectedDurationMs === undefined ? {} : { expectedDurationMs }),
    ...(tags === undefined ? {} : { tags }),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

export function resourcesOf(words: NeedWords, path: Path, issues: Issues): Resources {
  const { memory, walltime, scales, ...same } = words;
  const memoryBytes = memory === undefined ? undefined : sizeOf(memory, [...path, 'memory'], issues);
  const runtimeMs = walltime === undefined ? undefined : timeOf(walltime, [...path, 'walltime'], issues);
  return {
    ...same,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
    ...(runtimeMs === undefined ? {} : { runtimeMs }),
    ...(scales === undefined ? {} : { scales: scalesOf(scales, [...path, 'scales'], issues) }),
  };
}

type Scales = NonNullable<Resources['scales']>;

function scalesOf(words: NonNullable<NeedWords['scales']>, path: Path, issues: Issues): Scales {
  const scale = <Value>(
    value: number | readonly Value[] | undefined,
    name: 'memory' | 'walltime',
    parse: (value: Value, path: Path, issues: Issues) => number | undefined,
  ): number | number[] | undefined => {
    if (value === undefined) return undefined;
    if (typeof value !== 'number') {
      return value.map((one, at) => parse(one, [...path, name, at], issues) ?? 1);
    }
    if (value > 1 && value <= 1_000) return value;
    issues.add([...path, name], `a factor is more than 1 and at most 1000, not ${value}; a list has the next values`);
    return undefined;
  };
  const memory = scale(words.memory, 'memory', sizeOf);
  const runtime = scale(words.walltime, 'walltime', timeOf);
  return { ...(memory === undefined ? {} : { memory }), ...(runtime === undefined ? {} : { runtime }) };
}

/** Field by field, down to single scales, pools, limits and labels. */
export function merged(earlier: Settings, later: Settings): Settings {
  const { resources, tags, attributes } = earlier;
  return {
    ...earlier,
    ...later,
    ...(resources === undefined || later.resources === undefined
      ? {}
      : { resources: mergedResources(resources, later.resources) }),
    ...(tags === undefined || later.tags === undefined ? {} : { tags: { ...tags, ...later.tags } }),
    ...(attributes === undefined || later.attributes === undefined
      ? {}
      : { attributes: { ...attributes, ...later.attributes } }),
  };
}

const nested = ['scales', 'pools', 'limits'] as const;

export function mergedResources(earlier: Resources, later: Resources): Resources {
  const both = { ...earlier, ...later };
  for (const name of nested) {
    if (earlier[name] !== undefined && later[name] !== undefined)
      Object.assign(both, { [name]: { ...earlier[name], ...later[name] } });
  }
  return both;
}

/** What a task has to say beside what holds for all of its workflow: nested fields as a whole, since a task's replace those. */
export function beyond(workflow: Settings, own: Settings): Settings {
  const { resources } = own;
  if (resources === undefined || workflow.resources === undefined) return own;
  const whole = mergedResources(workflow.resources, resources);
  const said = Object.keys(resources) as (keyof Resources)[];
  return { ...own, resources: Object.fromEntries(said.map((name) => [name, whole[name]])) as Resources };
}
