import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { parseArray } from './ranges.ts';
import { expandArray, expandTemplate, splitSources } from './template.ts';

const expand = (template: string, ...sources: string[][]) =>
  [...expandTemplate(template, sources)].map((item) => ('command' in item ? item.command : 'barrier'));

const shellExpansions = ['x', '1', '#'].map((name) => `$\{${name}}`);

describe('placeholders', () => {
  it('{} is the value', () => {
    expect(expand('echo {} {}', ['a', 'b'])).toEqual(['echo a a', 'echo b b']);
  });

  it('{1} {2} are the values of several lists, the last one varies fastest', () => {
    expect(expand('{2}-{1}', ['a', 'b'], ['1', '2', '3'])).toEqual(['1-a', '2-a', '3-a', '1-b', '2-b', '3-b']);
  });

  it('{} with several lists is all values', () => {
    expect(expand('echo {}', ['a b', 'c'], ['1'])).toEqual(["echo 'a b' 1", 'echo c 1']);
  });

  it('{#} is the running number', () => {
    expect(expand('echo {#}:{}', ['x', 'y'])).toEqual(['echo 1:x', 'echo 2:y']);
    expect(expand('echo {#}', ['x', 'y'])).toEqual(['echo 1', 'echo 2']);
  });

  it('values are appended where there is none', () => {
    expect(expand('gzip -9', ['a', 'b c'])).toEqual(['gzip -9 a', "gzip -9 'b c'"]);
    expect(expand('echo', ['a'], ['b'])).toEqual(['echo a b']);
  });

  it.each(["echo 'a", 'echo $(a', 'echo a # note'])('values are not appended to %j', (template) => {
    expect(() => expand(template, ['v'])).toThrow('no value can be appended');
  });

  it.each(['{3}', '{0}', '{10}'])('%s is refused with two lists', (key) => {
    expect(() => expand(`echo ${key}`, ['a'], ['b'])).toThrow(`the placeholder ${key} has no value`);
  });

  it('an empty list makes no task', () => {
    expect(expand('echo {}', [])).toEqual([]);
    expect(expand('echo {}', ['a'], [])).toEqual([]);
  });

  it.each([...shellExpansions, '{a,b}', '{1,2}', '{1..3}', '{ cmd; }', '\\{}', "awk '{print $1}'"])(
    '%s is left alone',
    (literal) => expect(expand(`echo {} ${literal}`, ['v'])).toEqual([`echo v ${literal}`]),
  );

  it('a comment is left alone', () => {
    expect(expand("echo {} # don't touch {}\necho {}", ['a b'])).toEqual(["echo 'a b' # don't touch {}\necho 'a b'"]);
  });

  it('here-documents are refused, here-strings and shifts are not', () => {
    expect(() => expand('cat <<E\n{}\nE', ['v'])).toThrow('here-document');
    expect(() => expand("cat <<-'E'\n{}\nE", ['v'])).toThrow('here-document');
    expect(expand('cat <<< {}\necho', ['v'])).toEqual(['cat <<< v\necho']);
    expect(expand('echo $((1<<2)) {}\necho', ['v'])).toEqual(['echo $((1<<2)) v\necho']);
  });

  it('backquotes are refused', () => {
    expect(() => expand('echo `basename {}`', ['v'])).toThrow("can't stand in backquotes");
    expect(() => expand('echo "`basename {}`"', ['v'])).toThrow("can't stand in backquotes");
  });
});

/** Values that shells are known to trip over, beside arbitrary ones. */
const value = fc
  .oneof(
    fc.constantFrom(
      "'",
      '"',
      '\\',
      '$HOME',
      '`id`',
      '$(id)',
      'a b; rm x',
      '',
      '-n',
      '*',
      '~',
      '!',
      '#',
      '\n',
      "'\\''",
      '=x',
    ),
    fc.string({ unit: fc.constantFrom(...'ab \'"\\$`(){}!#*?~;&|<>=\n\té∞') }),
  )
  .filter((text) => !text.includes('\0'));

function runs(shell: string, template: string, given: string, expected: string): void {
  const [command] = expand(template, [given]);
  expect(execFileSync(shell, ['-c', command ?? ''], { encoding: 'utf8' })).toBe(expected);
}

describe.each(['sh', 'bash'])('a value reaches a command of %s as it is', (shell) => {
  const templates: readonly (readonly [string, (text: string) => string])[] = [
    ['printf %s. {}', (text) => `${text}.`],
    ['printf %s "<{}>"', (text) => `<${text}>`],
    ["printf %s '<{}>'", (text) => `<${text}>`],
    ['printf %s "$(printf %s. {})"', (text) => `${text}.`],
    ['(printf %s. {}) && printf %s "it\'s {}"', (text) => `${text}.it's ${text}`],
    ["printf %s. a\\'{}", (text) => `a'${text}.`],
  ];
  it.each(templates)('in %s', (template, expected) => {
    fc.assert(
      fc.property(value, (text) => runs(shell, template, text, expected(text))),
      madeUp(60),
    );
  });
});

it("a value reaches bash as it is in $'…'", () => {
  fc.assert(
    fc.property(value, (text) => runs('bash', "printf %s $'\\'<{}>'", text, `'<${text}>`)),
    madeUp(60),
  );
});

describe('arrays', () => {
  const items = (template: string, text: string) => [...expandArray(template, parseArray(text))];

  it('give {} and the index', () => {
    expect(items('echo {}', '2-3')).toEqual([
      { command: 'echo 2', arrayIndex: 2 },
      { command: 'echo 3', arrayIndex: 3 },
    ]);
  });

  it('leave a command without a placeholder as it is', () => {
    expect(items('echo $DROVER_INDEX', '7')).toEqual([{ command: 'echo $DROVER_INDEX', arrayIndex: 7 }]);
  });

  it.each([
    ['1-3', [1, 2, 3]],
    ['1-10:4', [1, 5, 9]],
    ['1,3,5-7', [1, 3, 5, 6, 7]],
    ['0, 0', [0, 0]],
  ])('read %s', (text, numbers) => expect([...parseArray(text)]).toEqual(numbers));

  it.each(['', 'a', '3-1', '1-', '-1', '1-9:0', '1,,2', '1:2', '1-2-3'])('refuse %j', (text) => {
    expect(() => parseArray(text)).toThrow('is not a range');
  });

  it('have a limit', () => {
    expect(() => parseArray('1-9999999999')).toThrow('more than');
  });
});

it('lists of values begin with each separator', () => {
  expect(splitSources([':::', 'a', '-b', ':::', ':::', 'c'])).toEqual([['a', '-b'], [], ['c']]);
});
