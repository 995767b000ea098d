/** Bodies of JSON: parsed once, and only if they are UTF-8: what is not would come out as other text than was sent. */
import { isUtf8 } from 'node:buffer';
import { DroverError } from '../model/errors.ts';

export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) throw new DroverError('bad-input', 'the body is empty, and its type says that it is JSON');
  if (!isUtf8(body)) throw new DroverError('bad-input', 'the body is not UTF-8');
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw new DroverError('bad-input', `the body is not JSON: ${error instanceof Error ? error.message : ''}`);
  }
}
