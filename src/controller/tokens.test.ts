import { describe, expect, it } from 'vitest';
import { tokensMax } from '../model/limits.ts';
import { Tokens } from './tokens.ts';

const token = (hash: string, expiresAt?: number) => ({ name: undefined, role: 'read' as const, hash, expiresAt });

function full(): Tokens {
  const tokens = new Tokens([]);
  for (let n = 1; n <= tokensMax; n++) tokens.add(token(`h${n}`, n === 5 ? 2_000 : undefined), 1_000);
  tokens.takeChanges();
  return tokens;
}

describe('tokens', () => {
  it('are known by their hash, and tell what there is to commit once', () => {
    const tokens = new Tokens([]);
    const { id } = tokens.add(token('h'), 1_000);
    tokens.revoke(id, 2_000);
    tokens.revoke(id, 3_000);
    expect(tokens.ofHash('h')).toMatchObject({ id: 1, createdAt: 1_000, revokedAt: 2_000 });
    const changes = tokens.takeChanges();
    expect(changes?.written.map(({ revokedAt }) => revokedAt)).toEqual([undefined, 2_000]);
    expect(tokens.takeChanges()).toBeUndefined();
    expect(() => tokens.revoke(2, 1)).toThrow(expect.objectContaining({ code: 'token-unknown' }));
  });

  it('of which there are too many make room by those that open nothing', () => {
    const tokens = full();
    expect(() => tokens.add(token('one more'), 1_500)).toThrow(expect.objectContaining({ code: 'too-large' }));
    expect(tokens.add(token('one more'), 2_000).id).toBe(tokensMax + 1);
    expect(tokens.takeChanges()?.removed).toEqual([5]);
    expect(tokens.ofHash('h5')).toBeUndefined();
    tokens.revoke(3, 2_000);
    tokens.add(token('another'), 2_000);
    expect(tokens.takeChanges()?.removed).toEqual([3]);
  });

  it('1: have ids that are never used again', () => {
    const tokens = full();
    tokens.revoke(tokensMax, 1_500);
    // The newest goes last: by it the next controller knows which ids were used.
    expect(() => tokens.add(token('one more'), 1_500)).toThrow();
    const next = new Tokens([...tokens.rows].slice(-1));
    expect(next.add(token('one more'), 2_000).id).toBe(tokensMax + 1);
  });
});
