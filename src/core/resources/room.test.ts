import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { defaultQueue, type Need } from '../../model/need.ts';
import { demandOf, fits, Load, roomOf, shortagesOf } from './room.ts';

const amount = fc.constantFrom(0, 0.1, 0.2, 0.3, 1, 1.5, 2, 3);
const need: fc.Arbitrary<Need> = fc.record({
  queue: fc.constant(defaultQueue),
  cpus: fc.constantFrom(0.1, 0.5, 1, 2, 3),
  memoryBytes: fc.nat(1_000),
  gpus: fc.nat(2),
  pools: fc.record({ a: amount, b: amount }),
});

describe('shortages', () => {
  it('are there exactly where a need does not fit beside what is taken', () => {
    fc.assert(
      fc.property(fc.array(need, { maxLength: 3 }), need, fc.nat(1_500), (taken, asked, memoryBytes) => {
        const room = roomOf(4, { queue: defaultQueue, memoryBytes, gpus: 2, pools: { a: 2 } });
        const load = new Load();
        for (const one of taken) load.add(demandOf(one));
        const short = shortagesOf(room, load, demandOf(asked));
        expect(short.length === 0).toBe(fits(room, load, demandOf(asked)));
        for (const { asked: wanted, free } of short) expect(free).toBeLessThan(wanted);
      }),
      madeUp(),
    );
  });
});
