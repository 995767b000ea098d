/** Text that fits its place and does nothing to the terminal. */
import { showCount } from '../../model/units.ts';

/** What tasks and users wrote may hold control characters; shown as escapes they can't move the cursor. */
export function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, escapeOf);
}

const namedEscapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': ' ' };

function escapeOf(character: string): string {
  return namedEscapes[character] ?? `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Where the command of a task would stand. */
export const barrierText = '--- barrier ---';

/** `1 task`, `1,000 tasks` */
export const amount = (count: number, noun: string): string => `${showCount(count)} ${noun}${count === 1 ? '' : 's'}`;

let segmenter: Intl.Segmenter | undefined;
/** Made when it is first needed: that takes as long as half of a command's start. */
function segmentsOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}
/** East Asian wide characters and emoji take two columns. */
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/u;
const ascii = /^[\x20-\x7e]*$/;

/** In columns of a terminal. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmentsOf(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

export function truncate(text: string, columns: number): string {
  if (text.length <= columns && ascii.test(text)) return text;
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 1; // the ellipsis
  for (const { segment } of segmentsOf(text)) {
    width += wide.test(segment) ? 2 : 1;
    if (width > columns) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : '';
}

const styles = { red: 31, green: 32, yellow: 33, dim: 2, bold: 1 } as const;
export type Style = keyof typeof styles;

export function styled(text: string, style: Style, isColoured: boolean): string {
  return isColoured && text !== '' ? `\u001b[${styles[style]}m${text}\u001b[0m` : text;
}
