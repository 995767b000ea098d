import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../model/outcome.ts';
import { attemptStates } from '../../model/states.ts';
import { decideBy } from '../machine.ts';
import { type AttemptView, attemptTable } from './table.ts';

const lost: Outcome = { kind: 'lost', what: 'worker' };
const succeeded: Outcome = { kind: 'succeeded' };
const viewOf = (state: (typeof attemptStates)[number], outcome: Outcome = succeeded): AttemptView =>
  state === 'ended' ? { state, outcome } : { state };

describe('the table of the attempt', () => {
  it('E21: an attempt is sent at most once: only from recorded', () => {
    for (const state of attemptStates) {
      const { kind } = decideBy(attemptTable, viewOf(state), { type: 'send' }, 'distributor');
      expect(kind).toBe(state === 'recorded' ? 'accept' : 'reject');
    }
  });

  it('ends from every state that is not ended, by its worker or by the loss of it', () => {
    for (const state of attemptStates.filter((one) => one !== 'ended')) {
      for (const role of ['operator', 'controller'] as const) {
        expect(decideBy(attemptTable, viewOf(state), { type: 'end', outcome: lost }, role).kind).toBe('accept');
      }
    }
  });

  it('E48: an end replaces a loss, and nothing else', () => {
    const end = (known: Outcome, told: Outcome) =>
      decideBy(attemptTable, viewOf('ended', known), { type: 'end', outcome: told }, 'operator').kind;
    expect(end(lost, succeeded)).toBe('accept');
    expect(end(lost, lost)).toBe('reject');
    expect(end(succeeded, { kind: 'exited', code: 1 })).toBe('reject');
  });
});
