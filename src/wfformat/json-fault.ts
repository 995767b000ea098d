/** Where a text stops being JSON: the engine's own message tells that for some faults only. */

const space = /[ \t\n\r]*/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a string of JSON must not have
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

export interface Place {
  readonly line: number;
  /** Counts from 1, in UTF-16 units as editors do. */
  readonly column: number;
}

/** Of a text that `JSON.parse` has refused. */
export function faultIn(text: string): Place {
  return placeOf(text, faultAt(text));
}

export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}

type Expected = 'value' | 'first-value' | 'key' | 'first-key' | 'next' | 'end';

/** What is read is kept as a stack of open brackets: depth costs no stack of the engine. */
function faultAt(text: string): number {
  const open: ('{' | '[')[] = [];
  let at = 0;
  let expected: Expected = 'value';
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const close = (): void => {
    at++;
    open.pop();
    expected = open.length === 0 ? 'end' : 'next';
  };
  for (;;) {
    take(space);
    const next = text[at];
    if (next === undefined || expected === 'end') return at;
    const inner = open.at(-1);
    if ((expected === 'first-key' && next === '}') || (expected === 'first-value' && next === ']')) close();
    else if (expected === 'next') {
      if (next === (inner === '{' ? '}' : ']')) close();
      else if (next === ',') {
        at++;
        expected = inner === '{' ? 'key' : 'value';
      } else return at;
    } else if (expected === 'key' || expected === 'first-key') {
      if (!take(string)) return at;
      take(space);
      if (text[at] !== ':') return at;
      at++;
      expected = 'value';
    } else if (next === '{' || next === '[') {
      at++;
      open.push(next);
      expected = next === '{' ? 'first-key' : 'first-value';
    } else if (take(string) || take(scalar)) expected = open.length === 0 ? 'end' : 'next';
    else return at;
  }
}
