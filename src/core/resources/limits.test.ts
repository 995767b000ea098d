import { describe, expect, it } from 'vitest';
import type { Concurrency } from '../../model/concurrency.ts';
import { workflowId } from '../../model/ids.ts';
import { type Need, plainNeed } from '../../model/need.ts';
import { WorkflowRecord } from '../workflow/record.ts';
import { Limits } from './limits.ts';

const workflow = (id: number, concurrency?: Concurrency): WorkflowRecord =>
  new WorkflowRecord(
    workflowId(id),
    { maxAttempts: 1, failFast: false, open: false, ...(concurrency === undefined ? {} : { concurrency }) },
    0,
  );
const licensed = (amount: number): Need => ({ ...plainNeed, limits: { matlab: amount } });
const grouped = (...groups: string[]): Need => ({ ...plainNeed, groups });

/** As a launch does. */
function ask(limits: Limits, of: WorkflowRecord, need: Need): boolean {
  const refusal = limits.refusalOf(of, need);
  if (refusal === undefined) limits.take(of.id, need);
  else limits.wait(of, refusal);
  return refusal === undefined;
}

describe('limits', () => {
  it('hold nobody back who names none, or one that nobody has set', () => {
    const limits = new Limits();
    for (let count = 0; count < 5; count++) expect(ask(limits, workflow(1), licensed(3))).toBe(true);
    expect(limits.get('matlab')).toEqual({ name: 'matlab', max: undefined, used: 15, waiting: 0 });
  });

  it('are shared by all workflows, in fractions that come to nothing again', () => {
    const limits = new Limits();
    limits.set('matlab', 1);
    const [one, two] = [workflow(1), workflow(2)];
    const third = licensed(1 / 3);
    expect([ask(limits, one, third), ask(limits, two, third), ask(limits, one, third)]).toEqual([true, true, true]);
    expect(ask(limits, two, licensed(0.001))).toBe(false);
    for (const of of [one, two, one]) limits.give(of, third);
    expect(limits.get('matlab').used).toBe(0);
    expect(ask(limits, two, licensed(1))).toBe(true);
  });

  it('wake whoever waits when something is given back, or when they are raised, once', () => {
    const limits = new Limits();
    limits.set('matlab', 1);
    const [one, two, three] = [workflow(1), workflow(2), workflow(3)];
    ask(limits, one, licensed(1));
    for (const of of [two, three, two]) expect(ask(limits, of, licensed(1))).toBe(false);
    expect([limits.get('matlab').waiting, limits.isWaiting(two)]).toEqual([2, true]);
    limits.give(one, licensed(1));
    expect(limits.takeWoken()).toEqual([two, three]);
    expect(limits.takeWoken()).toEqual([]);
    expect(limits.isWaiting(two)).toBe(false);
    limits.set('matlab', 0);
    ask(limits, two, licensed(1));
    limits.set('matlab', undefined);
    expect(limits.takeWoken()).toEqual([two]);
  });

  it('of a template and of a tag are each workflow’s own', () => {
    const limits = new Limits();
    const concurrency = { templates: { fit: 2 }, tags: { 'model=x': 1 } };
    const [one, two] = [workflow(1, concurrency), workflow(2, concurrency)];
    const both = grouped('tag:model=x', 'template:fit');
    expect(ask(limits, one, both)).toBe(true);
    expect(limits.refusalOf(one, both)).toEqual({ kind: 'group', name: 'tag:model=x' });
    expect(ask(limits, two, both)).toBe(true);
    expect(ask(limits, one, grouped('template:fit'))).toBe(true);
    expect(ask(limits, one, grouped('template:fit'))).toBe(false);
    expect(ask(limits, one, grouped('template:other'))).toBe(true);
    limits.give(one, both);
    expect(limits.takeWoken()).toEqual([one]);
    expect(limits.usedOf(one.id, 'template:fit')).toBe(1);
  });

  it('that are lowered take nothing back, and admit again when enough has ended', () => {
    const limits = new Limits();
    const one = workflow(1, { templates: { fit: 3 } });
    const fit = grouped('template:fit');
    for (let count = 0; count < 3; count++) ask(limits, one, fit);
    one.concurrency = { templates: { fit: 1 } };
    expect(limits.usedOf(one.id, 'template:fit')).toBe(3);
    for (let count = 0; count < 2; count++) {
      expect(limits.admits(one, fit)).toBe(false);
      limits.give(one, fit);
    }
    expect(limits.admits(one, fit)).toBe(false);
    limits.give(one, fit);
    expect(limits.admits(one, fit)).toBe(true);
  });

  it('of 0 pause, and of a workflow count all of its tasks that are with a worker', () => {
    const limits = new Limits();
    const one = workflow(1, { workflow: 0 });
    expect(limits.refusalOf(one, plainNeed)).toEqual({ kind: 'workflow' });
    one.concurrency = { workflow: 1 };
    expect(limits.admits(one, plainNeed)).toBe(true);
    one.counted('running', 1, 'command');
    expect(limits.admits(one, plainNeed)).toBe(false);
  });
});

describe('refusals', () => {
  it('are all that there are, of which the first is the one that a launch meets', () => {
    const limits = new Limits();
    for (const name of ['matlab', 'few', 'many']) limits.set(name, name === 'many' ? 9 : 1);
    const one = workflow(1, { workflow: 0, templates: { t: 0 } });
    const need = { ...grouped('template:t', 'tag:a=b'), limits: { matlab: 2, few: 2, many: 2 } };
    expect(limits.refusalsOf(one, need)).toEqual([
      { kind: 'workflow' },
      { kind: 'group', name: 'template:t' },
      { kind: 'cluster', name: 'matlab' },
      { kind: 'cluster', name: 'few' },
    ]);
    expect(limits.refusalOf(one, need)).toEqual({ kind: 'workflow' });
    expect(limits.refusalsOf(workflow(2), plainNeed)).toEqual([]);
  });
});
