/** The command line by which a workflow was submitted, to be kept with it: for people who wonder how it came about. */
import { quote } from '../definition/shell/quoting.ts';
import { commandLineCharactersMax } from '../model/limits.ts';

/** Their values may be secrets. Of a variable its name is told. */
const secretOptions = ['--env', '--notify-url', '--notify-command'];

/** Fit to be typed again, but for what is left out: `…` stands for that. */
export function commandLineOf(words: readonly string[], sources: readonly string[]): string {
  const shown: string[] = ['drover'];
  let secret: string | undefined;
  for (const word of words) {
    const [option = '', ...value] = word.split('=');
    if (secret !== undefined) {
      shown.push(hidden(secret, word));
      secret = undefined;
    } else if (secretOptions.includes(option)) {
      shown.push(value.length === 0 ? option : `${option}=${hidden(option, value.join('='))}`);
      secret = value.length === 0 ? option : undefined;
    } else shown.push(quote(word));
    if (shown.length > commandLineCharactersMax) break;
  }
  // Each has a character at least, and a blank.
  for (const word of sources.slice(0, commandLineCharactersMax)) shown.push(quote(word));
  const line = shown.join(' ').toWellFormed();
  return line.length <= commandLineCharactersMax
    ? line
    : `${line.slice(0, commandLineCharactersMax - 1).toWellFormed()}…`;
}

const hidden = (option: string, value: string): string => (option === '--env' ? quote(value.split('=')[0] ?? '') : '…');
