/**
 * The token that a user brings along, in the place of the access file's own. Never as an argument: whoever is on the
 * machine sees the arguments of all processes, but the environment of his own only.
 */
import { readFileSync } from 'node:fs';
import { DroverError } from '../model/errors.ts';

/** `DROVER_TOKEN`, or the file that `DROVER_TOKEN_FILE` names; read anew whenever it is used, so that it can be replaced. */
export function broughtToken(): string | undefined {
  const { DROVER_TOKEN: token, DROVER_TOKEN_FILE: file } = process.env;
  if (token !== undefined && token !== '') return token.trim();
  if (file === undefined || file === '') return undefined;
  try {
    const text = readFileSync(file, 'utf8').trim();
    if (text !== '') return text;
  } catch (cause) {
    throw new DroverError('bad-input', `DROVER_TOKEN_FILE: can't read ${file}`, {
      cause,
      hint: 'name a file that has a token and nothing else',
    });
  }
  throw new DroverError('bad-input', `DROVER_TOKEN_FILE: ${file} is empty`, { hint: 'put a token there' });
}
