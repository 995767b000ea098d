/** A series of samples that is short enough to be drawn. As before, each stands for the time since the one before it. */
import { reportLimits } from '../../model/limits.ts';
import type { ReportSlow } from '../../protocol/report.ts';

type Samples = NonNullable<ReportSlow['memory']>;

/** `most` keeps the greatest value, `mean` what was used in all. */
type Fold = 'most' | 'mean';

export function thinned(
  samples: readonly { readonly at: string; readonly value: number }[],
  startMs: number,
  fold: Fold,
): Samples {
  // They may come in any order, and by another clock.
  const all = samples
    .map(({ at, value }) => ({ ms: Math.max(0, Date.parse(at) - startMs), value }))
    .sort((a, b) => a.ms - b.ms);
  const each = Math.ceil(all.length / reportLimits.samplesMax);
  const kept: Samples = [];
  for (let at = 0; at < all.length; at += each) {
    const some = all.slice(at, at + each);
    const fromMs = all[at - 1]?.ms ?? 0;
    const value = fold === 'most' ? Math.max(...some.map((one) => one.value)) : meanOf(some, fromMs);
    kept.push({ ms: some.at(-1)?.ms ?? fromMs, value });
  }
  return kept;
}

function meanOf(samples: Samples, fromMs: number): number {
  const toMs = samples.at(-1)?.ms ?? fromMs;
  const [first] = samples;
  // One by itself stays as it is, whatever the clocks say.
  if (samples.length <= 1 || toMs <= fromMs) return first?.value ?? 0;
  const used = samples.reduce((sum, { ms, value }, at) => sum + value * (ms - (samples[at - 1]?.ms ?? fromMs)), 0);
  return Math.round((1_000 * used) / (toMs - fromMs)) / 1_000;
}
