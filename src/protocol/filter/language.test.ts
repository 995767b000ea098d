import { describe, expect, it } from 'vitest';
import { DroverError } from '../../model/errors.ts';
import { filterTables, taskFields } from './fields.ts';
import { escapeValue, parseFilter } from './language.ts';
import { typeOfField } from './types.ts';

const now = Date.parse('2026-01-31T12:00:00Z');

const parsed = (text: string) =>
  parseFilter(text, taskFields, now).map(({ field, operator, values }) => [field.name, operator, ...values]);

function refusalOf(text: string): DroverError {
  try {
    parseFilter(text, taskFields, now);
  } catch (error) {
    if (error instanceof DroverError) return error;
  }
  throw new Error(`'${text}' was taken`);
}

describe('a filter', () => {
  it('is clauses of field, operator and values', () => {
    expect(parsed('state=failed,queued&workflow=w3&exit=137&attempts>=2&held=true&command~gzip -k')).toEqual([
      ['state', '=', 'failed', 'queued'],
      ['workflow', '=', 3],
      ['exit', '=', 137],
      ['attempts', '>=', 2],
      ['held', '=', true],
      ['command', '~', 'gzip -k'],
    ]);
  });

  it('without clauses matches everything', () => {
    expect(parsed('')).toEqual([]);
    expect(parsed('&&')).toEqual([]);
  });

  it('knows units, and times that are absolute or counted back', () => {
    expect(
      parsed('peak>1.5GiB&wall<2m30s&startedAt>-1h&endedAt<=2026-01-30&startedAt<2026-01-30T10:00:00+01:00'),
    ).toEqual([
      ['peak', '>', 1.5 * 1024 ** 3],
      ['wall', '<', 150_000],
      ['startedAt', '>', now - 3_600_000],
      ['endedAt', '<=', Date.parse('2026-01-30T00:00:00Z')],
      ['startedAt', '<', Date.parse('2026-01-30T09:00:00Z')],
    ]);
  });

  it('takes any text as a value, if it is escaped', () => {
    const value = 'a,b&c\\d=e>f';
    expect(parsed(`name=${escapeValue(value)}&index=1`)).toEqual([
      ['name', '=', value],
      ['index', '=', 1],
    ]);
  });

  it('refuses a field that is none, and names the nearest', () => {
    expect(refusalOf('stat=failed')).toMatchObject({ code: 'bad-filter', message: "there is no field 'stat'" });
    expect(refusalOf('stat=failed').hint).toContain('state');
    expect(refusalOf('Attempt>2').details).toMatchObject({ nearest: ['attempts'] });
    expect(refusalOf('zzzzzz=1').hint).toContain('the fields are id, workflow');
  });

  it.each([
    ['state=fialed', 'one of registering'],
    ['exit=1.5', 'a whole number'],
    ['exit=', 'a whole number'],
    ['peak>lots', 'a size such as'],
    ['wall<soon', 'a duration such as'],
    ['startedAt>yesterday', 'a time such as'],
    ['held=yes', 'true or false'],
    ['workflow=3', 'a workflow such as w3'],
    ['id=w3', 'a task such as w3.14'],
    ['worker=w3', 'a worker such as k3'],
  ])('refuses a value of the wrong type, and says what is expected: %s', (text, expected) => {
    expect(refusalOf(text).hint).toContain(expected);
  });

  it.each([
    ['state>failed', 'use = !='],
    ['command>a', 'use = != ~'],
    ['held!=true', 'use ='],
    ['startedAt=-1h', 'use < <= > >='],
  ])('refuses a comparison that makes no sense: %s', (text, hint) => {
    expect(refusalOf(text)).toMatchObject({ code: 'bad-filter', hint });
  });

  it('refuses lists where only one value makes sense', () => {
    expect(refusalOf('exit>1,2').message).toBe('exit> takes one value, not a list');
  });

  it('refuses what is no clause, and more than anybody means', () => {
    expect(refusalOf('state').message).toBe("'state' compares nothing");
    expect(refusalOf('=x')).toMatchObject({ code: 'bad-filter' });
    expect(refusalOf(Array(33).fill('exit=1').join('&')).message).toContain('more than 32 clauses');
    expect(refusalOf(`exit=${Array(201).fill('1').join(',')}`).message).toContain('more than 200 values');
    expect(refusalOf('x'.repeat(10_001)).message).toContain('more than 10000 characters');
  });
});

describe('every field', () => {
  it.each(Object.entries(filterTables))('of %s has an example that is a filter', (_, fields) => {
    for (const { name, type, example } of fields) {
      const [clause] = parseFilter(example, fields, now);
      expect(clause?.field.name).toBe(name);
      expect(typeOfField(type).operators).toContain(clause?.operator);
    }
  });
});
