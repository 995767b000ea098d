/** What somebody may have meant who wrote a name that is none. */

const nearestMax = 3;

/** Those that begin alike, and those that a few slips of the hand away from it; the nearest first. */
export function nearest(written: string, known: readonly string[]): string[] {
  const slipsMax = Math.max(1, Math.floor(written.length / 3));
  const lower = written.toLowerCase();
  return known
    .map((name) => ({ name, slips: distance(lower, name.toLowerCase()) }))
    .filter(({ name, slips }) => slips <= slipsMax || (lower.length >= 3 && name.toLowerCase().includes(lower)))
    .sort((a, b) => a.slips - b.slips)
    .slice(0, nearestMax)
    .map(({ name }) => name);
}

/**
 * How many letters to insert, delete or exchange, or neighbours to swap. Names are short; what was written is cut to a
 * length like theirs.
 */
function distance(written: string, name: string): number {
  const a = written.slice(0, 40);
  let row = Array.from({ length: name.length + 1 }, (_, at) => at);
  let before = row;
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= name.length; j++) {
      const exchanged = (row[j - 1] as number) + (a[i - 1] === name[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === name[j - 2] && a[i - 2] === name[j - 1];
      const swapped = isSwap ? (before[j - 2] as number) + 1 : exchanged;
      next.push(Math.min(exchanged, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    [before, row] = [row, next];
  }
  return row[name.length] as number;
}
