/** A series of samples that is short enough to be drawn, and has its greatest value still. */
import { reportLimits } from '../../model/limits.ts';
import type { ReportSlow } from '../../protocol/report.ts';

type Samples = NonNullable<ReportSlow['memory']>;

export function thinned(samples: readonly { readonly at: string; readonly value: number }[], startMs: number): Samples {
  const each = Math.ceil(samples.length / reportLimits.samplesMax);
  const kept: Samples = [];
  for (let at = 0; at < samples.length; at += each) {
    const some = samples.slice(at, at + each);
    const greatest = some.reduce((most, one) => (one.value > most.value ? one : most));
    kept.push({ ms: Math.max(0, Date.parse(greatest.at) - startMs), value: greatest.value });
  }
  return kept;
}
