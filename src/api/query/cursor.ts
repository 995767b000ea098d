/** Where a list goes on, as an opaque word: the list, its order, and the last row that was looked at. */
import { DroverError } from '../../model/errors.ts';

export interface Order {
  readonly list: string;
  readonly sort: string;
}

export function encodeCursor({ list, sort }: Order, position: number): string {
  return Buffer.from(`${list} ${sort} ${position}`).toString('base64url');
}

export function decodeCursor({ list, sort }: Order, cursor: string): number {
  const [ofList, ofSort, text = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const position = Number(text);
  const isWhole =
    /^\d{1,15}$/.test(text) && encodeCursor({ list: ofList ?? '', sort: ofSort ?? '' }, position) === cursor;
  if (!isWhole) throw new DroverError('bad-cursor', `'${cursor}' is not a cursor`);
  if (ofList === list && ofSort === sort) return position;
  throw new DroverError('bad-cursor', `the cursor is of ${ofList} by ${ofSort}, not of ${list} by ${sort}`);
}
