/**
 * The axis of the timeline: times, the places that they have, and their labels. Drawn without a script by these functions, and within the page by
 * their text: they refer to nothing but each other.
 */

/** Rows of a place on the axis, and how many ms are missing there. */
export type Cuts = readonly (readonly [atMs: number, ms: number])[];

/** Whole plots are so many units wide, whatever the time they show. */
export const plotUnits = 100_000;

/** Beyond this share of what is shown, what is written about a place is to the left of it: to the right there is no room. */
export const lateShare = 0.8;

/** At most two units. */
export function showMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 10) / 100} s`;
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => value + unit)
    .join(' ');
}

/** All of it, since two ticks may be a moment apart after days. */
export function showTick(ms: number): string {
  if (ms === 0) return '0';
  if (ms < 1_000) return `${ms} ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = (ms % 60_000) / 1_000;
  if (minutes === 0) return `${seconds} s`;
  const parts = [
    [Math.floor(minutes / 1_440), 'd'],
    [Math.floor(minutes / 60) % 24, 'h'],
    [minutes % 60, 'm'],
    [seconds, 's'],
  ] as const;
  return parts
    .filter(([value]) => value > 0)
    .map(([value, unit]) => value + unit)
    .join(' ');
}

/** From a place on the axis to the time that it stands for. */
export function realMs(ms: number, cuts: Cuts): number {
  return cuts.reduce((sum, [at, missing]) => (ms >= at ? sum + missing : sum), ms);
}

/** Round times between two places on the axis, at most so many; `ms` is where they are. */
export function ticksOf(fromMs: number, toMs: number, most: number, cuts: Cuts): { ms: number; label: string }[] {
  const steps = [
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n),
    ...[1, 2, 5, 10, 15, 30].map((n) => n * 1_000),
    ...[1, 2, 5, 10, 15, 30].map((n) => n * 60_000),
    ...[1, 2, 3, 6, 12].map((n) => n * 3_600_000),
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map((n) => n * 86_400_000),
  ];
  const least = (toMs - fromMs) / most;
  const step = steps.find((ms) => ms >= least) ?? steps.at(-1) ?? 1;
  const ticks: { ms: number; label: string }[] = [];
  const edges = [fromMs, ...cuts.map(([at]) => at).filter((at) => at > fromMs && at < toMs), toMs];
  for (let next = 1; next < edges.length; next++) {
    const [begin, end] = [edges[next - 1] ?? 0, edges[next] ?? 0];
    const missing = realMs(begin, cuts) - begin;
    for (let at = Math.ceil((begin + missing) / step); at * step - missing <= end; at++) {
      const ms = at * step - missing;
      const last = ticks.at(-1);
      // Where something is cut out, two round times may be close.
      if (last !== undefined && ms - last.ms < step * 0.7) continue;
      ticks.push({ ms, label: showTick(at * step) });
    }
  }
  return ticks;
}
