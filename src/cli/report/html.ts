/**
 * HTML that can't be broken into. What commands and their output hold is hostile: it becomes text, whatever it is.
 *
 * 1. Only what the tag `html` made is markup; every other value within it is escaped, for text and for quoted attributes alike.
 * 2. Text is shown as it is, but for characters that can't be seen or that move others about: these are shown by their numbers.
 */

export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | undefined | readonly Value[];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? '');

/** What is undefined is left out; rows of values stand one behind the other. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let text = strings[0] ?? '';
  values.forEach((value, at) => {
    text += textOf(value) + (strings[at + 1] ?? '');
  });
  return new Markup(text);
}

function textOf(value: Value): string {
  if (value === undefined) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return escaped(String(value));
}

/** All that has no shape, but line feeds and joiners, which emoji need; and the marks that turn the direction of text. */
const invisible =
  /[\p{Cc}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Of what others wrote, on one line. */
export const shown = (text: string): string => text.toWellFormed().replaceAll(invisible, numberOf);

/** The same with its line feeds. */
export const shownLines = (text: string): string => text.split(/\r?\n/).map(shown).join('\n');

const namedNumbers: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '  ' };

function numberOf(character: string): string {
  const code = character.charCodeAt(0);
  return namedNumbers[character] ?? (code < 256 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`);
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

/** JSON that stands within a script element: nothing in it can end the element, or begin a comment. */
export const embeddedJson = (value: unknown): Markup =>
  new Markup(
    JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => `\\u${hex(character.charCodeAt(0), 4)}`),
  );
