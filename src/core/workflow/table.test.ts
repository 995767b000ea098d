import { describe, expect, it } from 'vitest';
import { type Role, roles, type WorkflowState, workflowStates } from '../../model/states.ts';
import { decideBy } from '../machine.ts';
import { type WorkflowCommand, type WorkflowView, workflowTable } from './table.ts';

const facts = { open: false, stop: undefined, haltMode: undefined, live: 0, failed: 0, cancelled: 0, unended: 0 };

const viewsIn = (state: WorkflowState): WorkflowView[] =>
  [
    facts,
    { ...facts, open: true },
    { ...facts, failed: 1 },
    { ...facts, cancelled: 1 },
    { ...facts, unended: 3, live: 2 },
    { ...facts, unended: 3, stop: 'user' as const },
    { ...facts, unended: 1, haltMode: 'kill' as const },
  ].map((variant) => ({ ...variant, state }));

const commands: WorkflowCommand[] = [
  { type: 'extend' },
  { type: 'close' },
  { type: 'abort' },
  { type: 'admit' },
  { type: 'instantiate' },
  { type: 'schedule' },
  { type: 'finish' },
  { type: 'halt', mode: 'drain' },
  { type: 'halt', mode: 'kill' },
  { type: 'settle' },
  { type: 'resume', how: 'hot' },
  { type: 'resume', how: 'cold' },
  { type: 'reset', all: false },
  { type: 'reset', all: true },
  { type: 'reopen' },
  { type: 'cancel' },
  { type: 'fail-fast' },
];

const cellOf = (state: WorkflowState, command: WorkflowCommand) => workflowTable[state][command.type];

describe('the table of the workflow', () => {
  it.each(workflowStates)('leads from %s to exactly the states that its cells name', (state) => {
    for (const command of commands) {
      const reached = new Set<WorkflowState>();
      const sameType = commands.filter(({ type }) => type === command.type);
      for (const view of viewsIn(state)) {
        for (const one of sameType) {
          const decision = decideBy(workflowTable, view, one, cellOf(state, one).by[0] as Role);
          if (decision.kind !== 'accept') continue;
          for (const event of decision.events) if (event.type === 'moved') reached.add(event.to);
        }
      }
      expect([...reached].sort(), `${state} ${command.type}`).toEqual([...cellOf(state, command).to].sort());
    }
  });

  it.each(workflowStates)('lets nobody but the named roles act on a workflow in state %s', (state) => {
    for (const view of viewsIn(state)) {
      for (const command of commands) {
        const { by } = cellOf(state, command);
        for (const role of roles.filter((one) => !by.includes(one))) {
          expect(decideBy(workflowTable, view, command, role)).toMatchObject({ code: 'role-not-allowed' });
        }
      }
    }
  });

  it('B40: a cold resume waits for the end of the last run, a hot one takes its attempts over', () => {
    const view: WorkflowView = { ...facts, state: 'halting', unended: 3, live: 2 };
    const resume = (how: 'hot' | 'cold') => decideBy(workflowTable, view, { type: 'resume', how }, 'definer');
    expect(resume('cold')).toMatchObject({ kind: 'reject', code: 'run-is-live' });
    expect(resume('hot')).toMatchObject({ kind: 'accept', events: [{ to: 'instantiating', run: 'hot' }] });
  });

  it.each(workflowStates)('resets a workflow in state %s only if no run of it is live', (state) => {
    const endings: readonly WorkflowState[] = ['halted', 'done', 'failed', 'cancelled'];
    const live: readonly WorkflowState[] = ['queued', 'instantiating', 'launched', 'running', 'halting'];
    for (const view of viewsIn(state)) {
      const decision = decideBy(workflowTable, view, { type: 'reset', all: true }, 'definer');
      expect(decision.kind).toBe(endings.includes(state) ? 'accept' : 'reject');
      if (live.includes(state)) expect(decision).toMatchObject({ code: 'run-is-live' });
    }
  });

  it('B17: an aborted registration is final', () => {
    for (const command of commands) {
      const view: WorkflowView = { ...facts, state: 'aborted' };
      const decision = decideBy(workflowTable, view, command, cellOf('aborted', command).by[0] as Role);
      expect(decision.kind).not.toBe('accept');
    }
  });
});
