/** What SQLite and the file system say, as errors of the catalogue that name the path. */
import { DroverError, type ErrorCode } from '../../model/errors.ts';

/** SQLite's primary result codes, which node:sqlite gives as `errcode`. */
const byResultCode: Readonly<Record<number, [ErrorCode, string]>> = {
  3: ['store-unwritable', 'access is denied'],
  5: ['store-locked', 'another process uses it'],
  6: ['store-locked', 'another process uses it'],
  8: ['store-unwritable', 'it is read-only'],
  10: ['store-unwritable', 'the disk can not be read or written'],
  11: ['store-damaged', 'its content is damaged'],
  13: ['store-unwritable', 'the disk is full'],
  14: ['store-unwritable', 'it can not be opened'],
  26: ['store-damaged', 'it is not a database'],
};

/** Extended ones that say more: the index of the log, of 32 KiB, finds no room where a page still does. */
const byExtendedCode: typeof byResultCode = {
  4874: ['store-unwritable', 'the disk is full'],
};

/** The error to throw instead; one that says nothing of the disk stays as it is: it is a bug. */
export function storeFailure(error: unknown, path: string): unknown {
  if (!(error instanceof Error)) return error;
  // What the system says of a file or folder: its message names it.
  if ('syscall' in error && 'path' in error) {
    return new DroverError('store-unwritable', `${path} can not be used: ${error.message}`, { cause: error });
  }
  if (!('errcode' in error) || typeof error.errcode !== 'number') return error;
  const known = byExtendedCode[error.errcode] ?? byResultCode[error.errcode & 0xff];
  if (known === undefined) return error;
  const [code, why] = known;
  return new DroverError(code, `${path}: ${why} (${error.message})`, { cause: error });
}
