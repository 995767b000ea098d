import { describe, expect, it } from 'vitest';
import { failureLimits } from '../../model/limits.ts';
import { Fingerprints } from './fingerprints.ts';

describe('fingerprints', () => {
  it('are the same for what is folded to the same, and have short names of their own', () => {
    const prints = new Fingerprints([]);
    const first = prints.of('bad file /a/1');
    expect(prints.of('bad file /b/22\n')).toBe(first);
    expect(prints.of('no file at all')).not.toBe(first);
    expect(prints.of(' \n')).toBe(0);
    expect(prints.get(first)?.name).toMatch(/^[0-9a-f]{4}$/);
    expect(prints.takeNew().map(({ lines }) => lines)).toEqual(['bad file <path>', 'no file at all']);
    expect(prints.takeNew()).toEqual([]);
  });

  it('keep their ids and names over a restart', () => {
    const before = new Fingerprints([]);
    const id = before.of('x');
    const after = new Fingerprints(before.takeNew());
    expect(after.of('x')).toBe(id);
    expect(after.takeNew()).toEqual([]);
    expect(after.of('y')).toBe(id + 1);
  });

  it('have no two the same name, and beyond the limit one is for all others', () => {
    const prints = new Fingerprints([]);
    const word = (n: number): string =>
      `x${n.toString(26).replace(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)] ?? '')}`;
    for (let n = 0; n < 3 * failureLimits.fingerprintsMax; n++) prints.of(`${word(n)} ${'ab'.repeat(n % 5)}`);
    const rows = prints.takeNew();
    expect(rows.length).toBe(failureLimits.fingerprintsMax);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    expect(rows.at(-1)?.name).toBe('other');
    expect(prints.get(prints.of('something new'))?.name).toBe('other');
  });
});
