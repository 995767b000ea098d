/**
 * The script of the page: the text of functions that are Drover's own, and of one that brings them together. Names may be other ones in a
 * bundle, so each is asked for its name.
 */
import { lateShare, plotUnits, realMs, showMs, showTick, ticksOf } from './axis.ts';
import type { PageDocument } from './dom.ts';
import { type Axis, type PageData, TimelineView } from './timeline-view.ts';

/** Where something is missing, the page stays as it is. */
function begin(document: PageDocument, View: typeof TimelineView, axis: Axis): void {
  const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as PageData;
  const chart = document.getElementById('timeline');
  const tip = document.getElementById('tip');
  const cursor = chart?.querySelector('.cursor');
  const grid = chart?.querySelector('.grid');
  if (chart && tip && cursor && grid && data.spanMs > 0) new View(document, axis, data, { chart, tip, cursor, grid });
}

export const browserScript = (): string => `'use strict';
${showMs}
${showTick}
${realMs}
${ticksOf}
(${begin})(document, ${TimelineView}, { lateShare: ${lateShare}, plotUnits: ${plotUnits}, realMs: ${realMs.name}, showMs: ${showMs.name}, ticksOf: ${ticksOf.name} });
`;
