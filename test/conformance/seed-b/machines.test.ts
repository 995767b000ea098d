/** The unified machine and its roles, read off the tables: B1–B4, B6–B9, B25–B28, B42. */
import { describe, expect, it } from 'vitest';
import { attemptTable } from '../../../src/core/attempt/table.ts';
import { allowedCommands } from '../../../src/core/machine.ts';
import { taskTable } from '../../../src/core/task/table.ts';
import { workflowTable } from '../../../src/core/workflow/table.ts';
import {
  attemptStates,
  isEndedTask,
  isEndedWorkflow,
  type Role,
  roles,
  type TaskState,
  taskStates,
  type WorkflowState,
  workflowStates,
} from '../../../src/model/states.ts';

interface AnyCell {
  readonly by: readonly Role[];
  readonly to: readonly string[];
  readonly isInert?: true;
}
type AnyTable = Readonly<Record<string, Readonly<Record<string, AnyCell>>>>;
const tables: Readonly<Record<string, AnyTable>> = { task: taskTable, workflow: workflowTable, attempt: attemptTable };

/** Cells that move the object. */
const moves = (table: AnyTable, state: string): [string, AnyCell][] =>
  Object.entries(table[state] ?? {}).filter(([, { to }]) => to.length > 0);

/** The way of an object to its good end: who takes it from one state to the next, and by which command. */
type Step = readonly [from: string, command: string, by: Role, to: string];
const ways: Readonly<Record<string, readonly Step[]>> = {
  workflow: [
    ['registering', 'close', 'definer', 'queued'],
    ['queued', 'admit', 'controller', 'instantiating'],
    ['instantiating', 'instantiate', 'controller', 'launched'],
    ['launched', 'schedule', 'distributor', 'running'],
    ['running', 'finish', 'controller', 'done'],
  ],
  task: [
    ['registering', 'activate', 'controller', 'queued'],
    ['queued', 'launch', 'distributor', 'launched'],
    ['launched', 'start', 'operator', 'running'],
    ['running', 'end', 'operator', 'done'],
  ],
};

describe('the machines', () => {
  it('B1: (note) are the states that there are, and for each of them and each command what is permitted', () => {
    for (const [name, states] of [
      ['task', taskStates],
      ['workflow', workflowStates],
      ['attempt', attemptStates],
    ] as const) {
      const table = tables[name] ?? {};
      expect(Object.keys(table).toSorted()).toEqual([...states].toSorted());
      const commands = Object.keys(table[states[0]] ?? {});
      for (const state of states) expect(Object.keys(table[state] ?? {}), state).toEqual(commands);
    }
  });

  it.each(Object.keys(ways))(
    'B2, B9: the home of a %s goes from unit to unit, each of which takes it on from a signal',
    (name) => {
      const homes = (ways[name] ?? []).map(([from, command, by, to]) => {
        const cell = tables[name]?.[from]?.[command];
        expect(cell?.by, `${from} ${command}`).toContain(by);
        expect(cell?.to, `${from} ${command}`).toContain(to);
        return by;
      });
      expect(new Set(homes).size).toBeGreaterThanOrEqual(3);
      // What a unit has not been signalled it can't take: a launch, a start or an end is refused or ignored before that.
      for (const [at, [from, , , to]] of (ways[name] ?? []).entries()) {
        for (const [, command] of (ways[name] ?? []).slice(at + 1)) {
          const cell = tables[name]?.[from]?.[command];
          if (cell !== undefined && command !== 'end') expect(cell.to, `${from} ${command}`).not.toContain(to);
        }
      }
    },
  );

  it('B3: (conflict with B28, B42) every transition is caused in a role, and there are four of them', () => {
    expect(roles).toEqual(['definer', 'controller', 'distributor', 'operator']);
    for (const table of Object.values(tables)) {
      for (const cells of Object.values(table)) {
        for (const { by } of Object.values(cells)) {
          expect(by.length).toBeGreaterThan(0);
          expect(by.filter((role) => !roles.includes(role))).toEqual([]);
        }
      }
    }
  });

  it('B4: the definer says which, the controller when, the distributor where, and the operator runs it', () => {
    const only = (table: AnyTable, command: string): Role[] => [
      ...new Set(
        Object.keys(table).flatMap((state) =>
          moves(table, state)
            .filter(([name]) => name === command)
            .flatMap(([, { by }]) => by),
        ),
      ),
    ];
    expect(only(workflowTable, 'close')).toEqual(['definer']);
    expect(only(taskTable, 'satisfy')).toEqual(['controller']);
    expect(only(taskTable, 'launch')).toEqual(['distributor']);
    expect(only(attemptTable, 'send')).toEqual(['distributor']);
    expect(only(taskTable, 'start')).toEqual(['operator']);
    expect(only(taskTable, 'claim')).toEqual(['operator']);
  });

  it('B6, B7: a unit has a machine of its own, whose end either goes on or says what went wrong', () => {
    // That of the operator is the attempt: it leads to one end, whose outcome the task then tells apart.
    for (const state of attemptStates) {
      for (const [, { to }] of moves(attemptTable, state))
        expect(attemptStates).toEqual(expect.arrayContaining([...to]));
    }
    expect(moves(attemptTable, 'ended').map(([command]) => command)).toEqual(['end']);
    expect(taskTable.running.end.to).toEqual(['done', 'queued', 'triaging']);
    expect(workflowTable.registering.close.to).toEqual(['queued']);
    expect(workflowTable.registering.abort.to).toEqual(['aborted']);
  });

  it('B8: what is being done is being done by one unit alone, which ends it', () => {
    const doing: readonly [table: string, state: string, ends: string, unit: Role, standIn?: Role][] = [
      ['workflow', 'registering', 'close', 'definer'],
      ['workflow', 'instantiating', 'instantiate', 'controller'],
      ['workflow', 'running', 'finish', 'controller'],
      // For a worker that is lost the controller has to speak.
      ['task', 'running', 'end', 'operator', 'controller'],
      ['task', 'triaging', 'triage', 'controller'],
      ['task', 'adjusting', 'adjust', 'controller'],
    ];
    for (const [name, state, ends, unit, standIn] of doing) {
      expect(tables[name]?.[state]?.[ends]?.by, state).toEqual(standIn === undefined ? [unit] : [unit, standIn]);
    }
  });

  it('B25: a state of doing has steps of its own inside: what a running task does is its attempt', () => {
    expect(attemptStates).toEqual(['recorded', 'sent', 'unsure', 'accepted', 'running', 'ended']);
    expect(attemptTable.recorded.send.to).toEqual(['sent']);
    expect(attemptTable.sent.accept.to).toEqual(['accepted']);
    expect(attemptTable.accepted.start.to).toEqual(['running']);
    expect(attemptTable.running.end.to).toEqual(['ended']);
  });

  it('B26, B10: whatever goes wrong with an attempt is triaged, by the controller alone', () => {
    for (const state of ['launched', 'running'] as const) expect(taskTable[state].end.to).toContain('triaging');
    expect(taskTable.triaging.triage).toMatchObject({ by: ['controller'], to: ['queued', 'adjusting', 'failed'] });
  });

  it('B27: each state of an attempt is brought about by one agent', () => {
    const causes = new Map<string, Set<Role>>();
    for (const state of attemptStates) {
      for (const [, { by, to }] of moves(attemptTable, state)) {
        for (const target of to) causes.set(target, new Set([...(causes.get(target) ?? []), ...by]));
      }
    }
    expect(Object.fromEntries([...causes].map(([state, by]) => [state, [...by]]))).toEqual({
      sent: ['distributor'],
      unsure: ['controller'],
      accepted: ['operator'],
      running: ['operator'],
      // The controller ends what a lost worker can't.
      ended: ['operator', 'controller'],
    });
  });

  it('B28, B42: (conflict with B3) here a client is a definer and nothing else', () => {
    const byDefiner = (table: AnyTable, states: readonly string[]) =>
      new Set(states.flatMap((state) => allowedCommands(table, state, 'definer')));
    const inner = [
      'launch',
      'claim',
      'start',
      'end',
      'triage',
      'adjust',
      'satisfy',
      'admit',
      'instantiate',
      'schedule',
      'finish',
      'settle',
    ];
    const given = [...byDefiner(taskTable, taskStates), ...byDefiner(workflowTable, workflowStates)];
    expect(given.filter((command) => inner.includes(command))).toEqual([]);
  });

  it('B21, B23: what is done or failed is so for good, unless its definer wants it again, or a charge was a mistake', () => {
    const left = (table: AnyTable, states: readonly string[]) =>
      states.flatMap((state) => moves(table, state).map(([command, { by }]) => `${state} ${command} ${by.join()}`));
    expect(
      left(
        taskTable,
        taskStates.filter((state: TaskState) => isEndedTask(state)),
      ),
    ).toEqual([
      'done reset controller',
      'failed forgive controller',
      'failed retry definer,controller',
      'failed reset controller',
      'cancelled retry definer,controller',
      'cancelled reinstate controller',
      'cancelled reset controller',
    ]);
    expect(
      left(
        workflowTable,
        workflowStates.filter((state: WorkflowState) => isEndedWorkflow(state)),
      ),
    ).toEqual([
      'halted resume definer',
      'halted cancel definer',
      'done reset definer',
      'done reopen controller',
      'failed resume definer',
      'failed reset definer',
      'failed reopen controller',
      'cancelled reset definer',
      'cancelled reopen controller',
    ]);
  });
});
