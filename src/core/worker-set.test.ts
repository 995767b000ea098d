import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import { isNewer, WorkerSetHash } from './worker-set.ts';

const hashOf = (instances: Iterable<string>): WorkerSetHash => {
  const hash = new WorkerSetHash();
  for (const instance of instances) hash.add(instance);
  return hash;
};
const instances = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { maxLength: 8 });

describe('the hash of a set of workers', () => {
  it('E17: is the same in whatever order they came, and after others came and went', () => {
    fc.assert(
      fc.property(instances, instances, (stay, go) => {
        const passing = go.filter((instance) => !stay.includes(instance));
        const hash = hashOf([...passing, ...stay]);
        for (const instance of passing) hash.remove(instance);
        expect(hash.isThatOf(hashOf([...stay].reverse()))).toBe(true);
      }),
      madeUp(),
    );
  });

  it('E17: tells a set from the same one without or with another worker', () => {
    const hash = hashOf(['1-a', '2-b']);
    expect(hash.isThatOf(hashOf(['1-a']))).toBe(false);
    expect(hash.isThatOf(hashOf(['1-a', '2-c']))).toBe(false);
    expect(hash.isThatOf(hashOf(['1-a', '2-b', '3-c']))).toBe(false);
    expect(hash.isThatOf(hashOf([]))).toBe(false);
  });
});

describe('an echo', () => {
  const mark = { scheduler: 'before', generation: 'g', version: 5, count: 0, sum: 0, xor: 0 };

  it('E17: is newer when its store is another one, or was at a later version', () => {
    expect(isNewer(mark, { scheduler: 'now', generation: 'g', versionAtStart: 4 })).toBe(true);
    expect(isNewer(mark, { scheduler: 'now', generation: 'other', versionAtStart: 9 })).toBe(true);
  });

  it('E17: is not newer than the store that it came from, however much that has changed since', () => {
    expect(isNewer(mark, { scheduler: 'now', generation: 'g', versionAtStart: 5 })).toBe(false);
    expect(isNewer(mark, { scheduler: 'now', generation: 'g', versionAtStart: 9 })).toBe(false);
    expect(isNewer(mark, { scheduler: 'before', generation: 'g', versionAtStart: 0 })).toBe(false);
  });
});
