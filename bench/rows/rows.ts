/** All rows, in the order of the table. */
import type { MakeRow } from '../row.ts';
import { rowA } from './a.ts';
import { rowA2 } from './a2.ts';
import { rowB } from './b.ts';
import { rowC } from './c.ts';
import { rowD } from './d.ts';
import { rowE } from './e.ts';
import { rowF } from './f.ts';
import { rowG } from './g.ts';
import { rowH } from './h.ts';
import { rowI } from './i.ts';
import { rowJ } from './j.ts';
import { rowK } from './k.ts';
import { rowL } from './l.ts';

export const rows: Readonly<Record<string, MakeRow>> = {
  ...{ a: rowA, a2: rowA2, b: rowB, c: rowC, d: rowD },
  ...{ e: rowE, f: rowF, g: rowG, h: rowH, i: rowI, j: rowJ, k: rowK, l: rowL },
};
