import { expect, it } from 'vitest';
import { VariableNames } from './variable-names.ts';

function learnt(...vars: string[]): VariableNames {
  const names = new VariableNames();
  names.learn(vars);
  return names;
}

it('knows the names that it has learnt, whatever their values', () => {
  expect(learnt('A=1', 'B=').areOf(['A=', 'B=2=3'])).toBe(true);
  expect(learnt().areOf([])).toBe(true);
});

it.each([
  ['one more', ['A=1', 'B=2', 'C=3']],
  ['one less', ['A=1']],
  ['another order', ['B=2', 'A=1']],
  ['a longer name', ['A=1', 'BB=2']],
  ['a name without a value', ['A=1', 'B']],
])('takes %s for other names', (_, vars) => {
  expect(learnt('A=1', 'B=2').areOf(vars)).toBe(false);
});

it('does not take the beginning of a name for the name', () => {
  expect(learnt('A').areOf(['A'])).toBe(false);
  expect(learnt('A').areOf(['AB=1'])).toBe(false);
});

it('takes all for other names before it has learnt any', () => {
  expect(new VariableNames().areOf([])).toBe(false);
});
