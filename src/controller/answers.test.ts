import { describe, expect, it } from 'vitest';
import { answersMax, answersMs } from '../model/limits.ts';
import { Answers } from './answers.ts';

const key = (name: string, digest = 'd') => ({ key: name, digest });
const reply = { type: 'extended', firstIndex: 1, count: 2 } as const;

describe('an answer', () => {
  it('is found again under its key, also by the next controller', () => {
    const answers = new Answers([]);
    answers.keep(key('a'), reply, 1_000);
    expect(answers.find(key('a'), 2_000)).toEqual(reply);
    const { written, forgottenTo } = answers.takeChanges() ?? { written: [], forgottenTo: -1 };
    expect([written.length, forgottenTo, answers.takeChanges()]).toEqual([1, 0, undefined]);
    expect(new Answers(written).find(key('a'), 2_000)).toEqual(reply);
  });

  it('is not the answer to another request under the same key', () => {
    const answers = new Answers([]);
    answers.keep(key('a'), reply, 1_000);
    expect(() => answers.find(key('a', 'other'), 2_000)).toThrow(
      expect.objectContaining({ code: 'idempotency-key-reused' }),
    );
  });

  it('1: is forgotten after its time; its key is free then', () => {
    const answers = new Answers([]);
    answers.keep(key('a'), reply, 1_000);
    answers.keep(key('b'), reply, 2_000);
    expect(answers.find(key('a', 'other'), 1_000 + answersMs)).toBeUndefined();
    expect(answers.find(key('b'), 1_000 + answersMs)).toEqual(reply);
    answers.keep(key('a', 'other'), { type: 'done' }, 1_000 + answersMs);
    expect(answers.find(key('a', 'other'), 1_000 + answersMs)).toEqual({ type: 'done' });
    answers.keep(key('c'), reply, 2_000 + answersMs);
    // The first two have gone; the one that took the place of the first has not.
    expect(answers.takeChanges()?.forgottenTo).toBe(2);
    expect(answers.find(key('a', 'other'), 2_000 + answersMs)).toEqual({ type: 'done' });
  });

  it('1: makes room for a new one when there are as many as may be', () => {
    const answers = new Answers([]);
    for (let n = 1; n <= answersMax + 3; n++) answers.keep(key(`k${n}`), reply, 1_000);
    expect(answers.takeChanges()?.forgottenTo).toBe(3);
    expect(answers.find(key('k3'), 1_000)).toBeUndefined();
    expect(answers.find(key('k4'), 1_000)).toEqual(reply);
  });
});
