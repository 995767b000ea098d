/** Long times in which nothing ran, such as the night before a resume: they are cut out of the timeline, so that the rest can be seen. */
import { reportLimits } from '../../model/limits.ts';

/** In ms since the epoch. */
export interface Cut {
  readonly fromMs: number;
  readonly toMs: number;
}

/** How long it is from the epoch without what is cut out. */
export function withoutCuts(ms: number, cuts: readonly Cut[]): number {
  let shown = ms;
  for (const { fromMs, toMs } of cuts) if (ms > fromMs) shown -= Math.min(ms, toMs) - fromMs;
  return shown;
}

/** `busy`: how much ran in each bucket of `widthMs`, from `originMs` on. None where they would make little difference. */
export function idleCuts(busy: readonly number[], originMs: number, widthMs: number): readonly Cut[] {
  const { cutShareMin, idleShareMin } = reportLimits;
  const cuts: Cut[] = [];
  let idle = 0;
  let from = 0;
  for (let at = 0; at <= busy.length; at++) {
    if (at < busy.length && busy[at] === 0) continue;
    if (at > from && at - from >= cutShareMin * busy.length) {
      cuts.push({ fromMs: originMs + from * widthMs, toMs: originMs + at * widthMs });
      idle += at - from;
    }
    from = at + 1;
  }
  return idle >= idleShareMin * busy.length ? cuts : [];
}
