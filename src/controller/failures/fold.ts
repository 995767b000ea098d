/**
 * What the same failure writes each time: the last lines with everything folded away that differs from task to task.
 * `/data/7.bin: bad checksum 0x3fa1 at 12:07:01` and `/data/9.bin: bad checksum 0x77c0 at 12:07:44` are the same.
 */
import { failureLimits } from '../../model/limits.ts';

/** In this order: what comes first may hold what a later one would fold. */
const folds: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"`<>)\]]+/gi, '<url>'],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d)\b)?/g, '<time>'],
  [
    /\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2}\b/g,
    '<time>',
  ],
  [/\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/g, '<time>'],
  [/(?:[a-z]:\\|\\\\)[^\s'"`:;,()<>|]+/gi, '<path>'],
  [/(?<![\w/<])(?:~|\.{1,2})?(?:\/[^\s'"`:;,()<>|=]+)+\/?/g, '<path>'],
  [/(?<![\w<./])[\w.@+-]+(?:\/[\w.@+-]+)+/g, '<path>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b/gi, '<hex>'],
  [/\d+(?:[.,]\d+)*(?:e[+-]?\d+)?/g, '#'],
  [/\s+/g, ' '],
];

/** The last lines that are not blank, folded; '' where there are none. */
export function foldLines(text: string): string {
  const lines: string[] = [];
  for (let end = text.length; end > 0 && lines.length < failureLimits.linesMax; ) {
    const start = text.lastIndexOf('\n', end - 1) + 1;
    const line = foldLine(text.slice(start, end));
    if (line !== '') lines.push(line);
    end = start - 1;
  }
  return lines.reverse().join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal are what is looked for.
const colours = /\u001b\[[\d;?]*[ -/]*[@-~]/g;

/** What a terminal would show in the end: of a line that was written over, as a bar of progress is, the last state, without colours. */
export function shownLine(line: string): string {
  const trimmed = line.replace(colours, '').trimEnd();
  return trimmed.slice(trimmed.lastIndexOf('\r') + 1);
}

function foldLine(line: string): string {
  let folded = shownLine(line).slice(0, failureLimits.lineCharactersMax);
  for (const [pattern, stands] of folds) folded = folded.replace(pattern, stands);
  return folded.trim();
}
