import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../test/set-up/made-up.ts';
import { instanceFiles } from '../../test/wfformat/instances.ts';
import { nameBytesMax } from '../model/limits.ts';
import { faultIn } from './json-fault.ts';
import { inOrder } from './order.ts';
import { parseInstance } from './parse.ts';
import type { SpecifiedTask } from './schema.ts';

const task = (id: string, parents: string[] = [], children: string[] = []): SpecifiedTask => ({
  ...{ name: id, id, parents, children },
});

const instance = (tasks: readonly unknown[], more: object = {}): string =>
  JSON.stringify({ name: 'x', schemaVersion: '1.5', workflow: { specification: { tasks } }, ...more });

const refusal = (text: string): string => {
  try {
    parseInstance(text, 'a.json');
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

describe('an instance of WfFormat', () => {
  it.each(instanceFiles)('is read: %s', (file) => {
    const { workflow } = parseInstance(readFileSync(file, 'utf8'), file);
    expect(workflow.specification.tasks.length).toBeGreaterThan(40);
  });

  it('may have more than is read, and no execution', () => {
    expect(refusal(instance([{ ...task('a'), colour: 'red' }], { author: { name: 'me' } }))).toBe('none');
  });

  it('of another version, or of none, is refused by that', () => {
    expect(refusal(instance([task('a')], { schemaVersion: '1.4' }))).toBe(
      'a.json: its schemaVersion is "1.4"; this reads 1.5',
    );
    expect(refusal('{}')).toBe('a.json: it has no schemaVersion; this reads 1.5');
    expect(refusal('[]')).toBe('a.json: it has no schemaVersion; this reads 1.5');
  });

  it('of another shape is refused by where that is', () => {
    expect(refusal(instance([]))).toMatch(/^a\.json: workflow\.specification\.tasks must not have fewer than 1 items/);
    expect(refusal(instance([task('a'), { ...task('b'), parents: 'a' }]))).toMatch(
      /^a\.json: workflow\.specification\.tasks\[1\]\.parents must be array/,
    );
    expect(refusal(instance([task('i'.repeat(nameBytesMax + 1))]))).toContain('tasks[0].id must not have more than');
  });

  it('names tasks once, and none that is not there', () => {
    expect(refusal(instance([task('a'), task('a')]))).toBe('a.json: two tasks have the id a');
    expect(refusal(instance([task('a', ['ghost'], ['b', 'c'])]))).toBe(
      'a.json: there are no tasks ghost (of a), b (of a), c (of a)',
    );
    const execution = { makespanInSeconds: 1, executedAt: 'now', tasks: [{ id: 'z', runtimeInSeconds: 1 }] };
    const workflow = { specification: { tasks: [task('a')] }, execution };
    expect(refusal(instance([], { workflow }))).toBe('a.json: execution has tasks that specification has not: z');
  });

  it('has edges that both ends know', () => {
    expect(refusal(instance([task('a'), task('b', ['a'])]))).toBe(
      'a.json: b names a as parent, which does not name it as child',
    );
    expect(refusal(instance([task('a', [], ['b']), task('b')]))).toBe(
      'a.json: a names b as child, which does not name it as parent',
    );
  });

  it('with a cycle is refused by the way round', () => {
    const tasks = [
      task('o', [], ['a']),
      task('a', ['o', 'c'], ['b']),
      task('b', ['a'], ['c']),
      task('c', ['b'], ['a']),
    ];
    expect(() => inOrder(tasks, 'a.json')).toThrow(
      expect.objectContaining({
        code: 'dependency-cycle',
        message: 'a.json: its tasks wait for each other: a → b → c → a',
      }),
    );
    expect(() => inOrder([task('a', ['a'], ['a'])], 'a.json')).toThrow('a → a');
  });

  it.each([
    ['{"a": 1,\n "b" 2}', 2, 6],
    ['{"a": 1,\n}', 2, 1],
    ['[1, 2', 1, 6],
    ['', 1, 1],
    ['{"a": tru}', 1, 7],
    ['[1] x', 1, 5],
    ['{"a": "\n"}', 1, 7],
    ['[01]', 1, 3],
    ["{'a': 1}", 1, 2],
  ])('that is not JSON is refused by line and column: %j', (text, line, column) => {
    expect(refusal(text)).toBe(`a.json, line ${line}, column ${column}: it is not JSON`);
  });

  it('is told to be wrong where it was cut or spoilt, never before', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (json, at) => {
        const cut = at % (json.length + 1);
        const spoilt = `${json.slice(0, cut)}\u0001${json.slice(cut)}`;
        const { line, column } = faultIn(spoilt);
        expect(line).toBe(1);
        const stringStart = json.lastIndexOf('"', cut);
        expect(column - 1).toBeLessThanOrEqual(cut);
        // Within a string it is the string that is wrong; within a word, the word.
        expect(column - 1).toBeGreaterThanOrEqual(Math.min(stringStart < 0 ? cut : stringStart, cut - 30));
      }),
      madeUp(),
    );
  });
});
