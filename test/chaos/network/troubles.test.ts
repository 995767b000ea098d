/** The judge of the chaos is judged: what it lets pass, and what not. */
import { describe, expect, it } from 'vitest';
import { place } from '../../program/drover.ts';
import { judge } from '../evidence.ts';
import type { Entry } from '../ledger.ts';
import { Ledger } from '../ledger.ts';
import type { Records } from '../records.ts';
import { Troubles } from './troubles.ts';

const pid = 7;
const seconds = (at: number): number => at * 1_000;

function troublesOf(...given: [kind: string, from: number, to: number, worker?: number][]): Troubles {
  const troubles = new Troubles((asked) => (asked === pid ? 0 : undefined));
  for (const [kind, from, to, worker] of given) {
    const whom = worker === undefined ? {} : { worker };
    troubles.all.push({ kind, from: seconds(from), to: seconds(to), feltTo: seconds(to) + 1_500, ...whom });
  }
  return troubles;
}

const isLossExplained = (troubles: Troubles): boolean => troubles.ofLoss(pid, seconds(100), seconds(120)) !== undefined;

describe('a loss', () => {
  it('is explained by a silence as long as the loss time, of one trouble or of several', () => {
    expect(isLossExplained(troublesOf(['partition', 101, 115, 0]))).toBe(true);
    expect(isLossExplained(troublesOf(['partition', 101, 107, 0], ['stop controller', 108, 114]))).toBe(true);
  });

  it('is not explained by a short one, by another worker’s, or by one that was over before', () => {
    expect(isLossExplained(troublesOf(['partition', 101, 108, 0]))).toBe(false);
    expect(isLossExplained(troublesOf(['partition', 101, 104, 0], ['partition', 108, 112, 0]))).toBe(false);
    expect(isLossExplained(troublesOf(['partition', 101, 118, 1]))).toBe(false);
    expect(isLossExplained(troublesOf(['partition', 70, 90, 0]))).toBe(false);
  });

  it('is explained by a kill of its worker, not by one of the controller', () => {
    expect(isLossExplained(troublesOf(['kill spawner', 110, 110, 0]))).toBe(true);
    expect(isLossExplained(troublesOf(['kill controller', 110, 111]))).toBe(false);
  });
});

describe('two attempts at once', () => {
  const folder = place();
  const ledger = new Ledger(folder.path, true);
  folder.remove();
  const line = (what: Entry['what'], attempt: number, at: number): Entry => ({
    ...{ what, attempt, nonce: 'n', task: 'w1.1', worker: `k${attempt}`, at: seconds(at) },
  });
  const attemptOf = (number: number): object => ({
    ...{ number, worker: `k${number}`, outcome: number === 1 ? { kind: 'lost' } : { kind: 'succeeded' } },
    ...{ recordedAt: new Date(seconds(100)).toISOString(), endedAt: new Date(seconds(119)).toISOString() },
  });
  const task = { id: 'w1.1', state: 'done', attempts: 2, history: [attemptOf(1), attemptOf(2)], stdout: '' };
  const verdict = (troubles: Troubles) =>
    judge({
      ...{ submissions: [], shown: new Map(), ledger, causes: troubles },
      records: {
        workflows: [{ view: { name: 'x' }, tasks: [task] }],
        workerPids: new Map([['k1', pid]]),
      } as unknown as Records,
      entries: [line('begin', 1, 101), line('beat', 1, 120.2), line('begin', 2, 120), line('end', 2, 121)],
    });

  it('are a fault, and excused only where worker and spawner were stopped', () => {
    const cut = verdict(troublesOf(['partition', 101, 121, 0]));
    expect([cut.faults.length, cut.excused.length]).toEqual([1, 0]);
    expect(cut.faults[0]).toContain('began on k2 200 ms before the last line of attempt 1');
    const stopped = verdict(troublesOf(['stop worker and spawner', 101, 121, 0]));
    expect([stopped.faults, stopped.excused.length]).toEqual([[], 1]);
  });
});
