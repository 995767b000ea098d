/** Values as words of a shell command. */

/** Such a word means itself to every shell, at any place of a command. */
const plainWord = /^[A-Za-z0-9_@%+:,./-]+$/;

export function quote(value: string): string {
  return plainWord.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Behind the first character `=` means itself, too. */
const plainArgument = /^[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+:,./=-]*$/;
const control = /\p{Cc}/gu;
const hexOf = (character: string): string =>
  [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/** As a word of a command that is shown to be typed or pasted: what would move the cursor is written as an escape. */
export function typeable(value: string): string {
  if (plainArgument.test(value)) return value;
  if (value.search(control) < 0) return quote(value);
  return `$'${value.replace(/[\\']/g, '\\$&').replace(control, hexOf)}'`;
}

/** The quotes that surround a place in a command. */
export type Surroundings = 'bare' | 'single' | 'double' | 'ansi';

const closing: Readonly<Record<Surroundings, string>> = { bare: '', single: "'", double: '"', ansi: "'" };
const opening: Readonly<Record<Surroundings, string>> = { bare: '', single: "'", double: '"', ansi: "$'" };

/** Leaves the quotes, sets the value and enters them again, so that the value stays itself wherever it stands. */
export function quoteWithin(value: string, surroundings: Surroundings): string {
  if (surroundings !== 'bare' && plainWord.test(value)) return value;
  return closing[surroundings] + quote(value) + opening[surroundings];
}
