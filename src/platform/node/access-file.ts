/**
 * The access file: where the controller of a folder listens, and the tokens for it. Readable by its owner only. One that
 * is made for others (`drover token add --access`) has a single `token` instead of `tokens`.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DroverError } from '../../model/errors.ts';
import { onDisk } from './disk-failure.ts';
import { newToken } from './secrets.ts';

export interface AccessFile {
  readonly version: 1;
  readonly url: string;
  /** Where else it may be reached, when it listens on all of its machine's addresses. */
  readonly otherUrls?: readonly string[];
  /** Absent in one that was made for others: what it names is elsewhere. */
  readonly pid?: number;
  /** What the controller shows off loopback; a client trusts nothing else. */
  readonly certificate?: string;
  readonly tokens: { readonly admin: string; readonly worker: string };
}

export const accessPath = (directory: string): string => join(directory, 'access.json');

/** In the order in which to try them. */
export const urlsOf = ({ url, otherUrls = [] }: AccessFile): readonly string[] => [url, ...otherUrls];

/** Made once for a folder, so that a copy of the access file on another machine outlives a restart of the controller. */
export function loadTokens(directory: string): AccessFile['tokens'] {
  const path = join(directory, 'tokens.json');
  try {
    const { admin, worker } = JSON.parse(readFileSync(path, 'utf8')) as Partial<AccessFile['tokens']>;
    if (isUsable(admin) && isUsable(worker)) return { admin, worker };
  } catch {
    // None yet, or damaged: then there are new ones.
  }
  const tokens = { admin: newToken(), worker: newToken() };
  writePrivately(path, tokens);
  return tokens;
}

/** An empty one would let everybody in. */
const isUsable = (token: unknown): token is string => typeof token === 'string' && token.length >= tokenCharsMin;
const tokenCharsMin = 16;

export const writeAccessFile = (directory: string, access: AccessFile): void =>
  writePrivately(accessPath(directory), access);

/** Renamed into place: a reader never sees half of it. */
function writePrivately(path: string, content: object): void {
  const aside = `${path}.${process.pid}`;
  try {
    onDisk(path, () => {
      writeFileSync(aside, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
      renameSync(aside, path);
    });
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  }
}

/** Undefined when there is none, or one that this version can't read. */
export function readAccessFile(path: string): AccessFile | undefined {
  try {
    const { token, ...file } = JSON.parse(readFileSync(path, 'utf8')) as Partial<AccessFile> & { token?: string };
    const access = token === undefined ? file : { ...file, tokens: { admin: token, worker: token } };
    return isWhole(access) ? (access as AccessFile) : undefined;
  } catch {
    return undefined;
  }
}

const isWhole = ({ version, url, tokens }: Partial<AccessFile>): boolean =>
  version === 1 && URL.canParse(url ?? '') && typeof tokens?.admin === 'string' && typeof tokens.worker === 'string';

/** A file that is there and tells nothing. It is never half written, so it does not help to wait. */
export const isAccessDamaged = (directory: string): boolean =>
  existsSync(accessPath(directory)) && readAccessFile(accessPath(directory)) === undefined;

/** `cause` says who has the folder, where that is known. */
export function accessDamaged(directory: string, cause?: Error): DroverError {
  const path = accessPath(directory);
  const who = cause === undefined ? '' : ` (${cause.message})`;
  return new DroverError('access-damaged', `${path} is damaged: without it, no controller can be reached${who}`, {
    cause,
  });
}

/** Only one's own: another controller may have taken over meanwhile. */
export function removeAccessFile(directory: string): void {
  if (readAccessFile(accessPath(directory))?.pid === process.pid) rmSync(accessPath(directory), { force: true });
}
