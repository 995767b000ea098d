/**
 * Durations, sizes, rates and counts as people write and read them. `print…` is exact and can be parsed again;
 * `show…` is rounded for the eye. A bare number means seconds, or bytes.
 */
const durationUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

const sizeUnits = [
  ['PiB', 1024 ** 5],
  ['PB', 1000 ** 5],
  ['TiB', 1024 ** 4],
  ['TB', 1000 ** 4],
  ['GiB', 1024 ** 3],
  ['GB', 1000 ** 3],
  ['MiB', 1024 ** 2],
  ['MB', 1000 ** 2],
  ['KiB', 1024],
  ['kB', 1000],
  ['B', 1],
] as const;

export const durationExamples = '90s, 2h30m, 1.5h, 250ms; a bare number means seconds';

const bareNumber = /^\d+(?:\.\d+)?$/;
const durationPart = /(\d+(?:\.\d+)?)\s*(ms|[dhms])\s*/y;
const sizePattern = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i;

function safeInteger(value: number): number | undefined {
  const rounded = Math.round(value);
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/** Parts go from the largest unit to the smallest, each at most once: `30m2h` is more likely a slip than a wish. */
export function parseDurationMs(text: string): number | undefined {
  const trimmed = text.trim();
  if (bareNumber.test(trimmed)) return safeInteger(Number(trimmed) * 1_000);
  let total = 0;
  let position = 0;
  let smallest = -1;
  while (position < trimmed.length) {
    durationPart.lastIndex = position;
    const match = durationPart.exec(trimmed);
    if (match === null) return undefined;
    const unit = durationUnits.findIndex(([name]) => name === match[2]);
    if (unit <= smallest) return undefined;
    smallest = unit;
    total += Number(match[1]) * (durationUnits[unit]?.[1] ?? 0);
    position = durationPart.lastIndex;
  }
  return position === 0 ? undefined : safeInteger(total);
}

export function printDurationMs(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [name, size] of durationUnits) {
    const units = Math.floor(rest / size);
    if (units > 0) text += `${units}${name}`;
    rest -= units * size;
  }
  return text === '' ? '0s' : text;
}

export function parseBytes(text: string): number | undefined {
  const trimmed = text.trim();
  if (bareNumber.test(trimmed)) return safeInteger(Number(trimmed));
  const match = sizePattern.exec(trimmed);
  const name = match?.[2]?.toLowerCase();
  const unit = sizeUnits.find(([known]) => known.toLowerCase() === name);
  return match === null || unit === undefined ? undefined : safeInteger(Number(match[1]) * unit[1]);
}

/** In the largest unit that divides it. */
export function printBytes(bytes: number): string {
  const unit = sizeUnits.find(([, size]) => bytes >= size && bytes % size === 0);
  return unit === undefined ? `${bytes}B` : `${bytes / unit[1]}${unit[0]}`;
}

/** At most two units: `250 ms`, `2.3 s`, `1m 23s`, `2h 30m`, `3d 4h`. */
export function showDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

const shownSizes = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

export function showBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_023.95 && unit < shownSizes.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${shownSizes[unit]}`;
}

const decimalSizes = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** Of what is asked for: in three digits, never less than it is, so that to ask for what is shown is enough: `338 MB`. */
export function showAtLeastBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < decimalSizes.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const step = 10 ** digits;
  return `${Math.ceil(value * step) / step} ${decimalSizes[unit]}`;
}

/** `1,234,567` */
export function showCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

const shownRates = [
  ['s', 1],
  ['min', 60],
  ['h', 3_600],
] as const;

/** In the shortest unit of time that has at least one event: `430/s`, `2.5/s`, `12/min`. */
export function showRate(perSecond: number): string {
  const [name, seconds] = shownRates.find(([, size]) => perSecond * size >= 0.995) ?? shownRates[2];
  const value = perSecond * seconds;
  return `${value < 9.95 ? value.toFixed(1) : showCount(Math.round(value))}/${name}`;
}
