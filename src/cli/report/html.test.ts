import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { embeddedJson, html, shown, shownLines } from './html.ts';

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '</script>',
    '<!--',
    '"><img src=x onerror=alert(1)>',
    "' onload='x",
    '&lt;',
    '\u0000\u001b[31m',
    '\u202e',
    '\ud800',
  ),
);

describe('markup', () => {
  it('has what it is given as text, in elements and in quoted attributes', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { text: made } = html`<p title="${text}">${text}</p>`;
        const inner = made.slice('<p title="'.length, -'</p>'.length);
        const [attribute = '', content = ''] = inner.split('">');
        for (const part of [attribute, content]) expect(part).not.toMatch(/[<>"']/);
        expect(unescaped(content)).toBe(text);
        expect(unescaped(attribute)).toBe(text);
      }),
      madeUp(),
    );
  });

  it('nests, joins rows and leaves out what is not there', () => {
    const rows = ['a<', 'b'].map((text) => html`<li>${text}</li>`);
    expect(html`<ul>${rows}${undefined}${0}</ul>`.text).toBe('<ul><li>a&lt;</li><li>b</li>0</ul>');
  });
});

const unescaped = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

describe('text of others', () => {
  it('has no character that can not be seen or that turns the others around', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(shown(text)).not.toMatch(/[\p{Cc}\u2028-\u202e\u2066-\u2069\u200e\u200f\ufeff]/u);
        expect(shown(text).isWellFormed()).toBe(true);
      }),
      madeUp(),
    );
  });

  it.each([
    ['a\nb\tc\r', 'a\\nb  c\\r'],
    ['\u0000\u001b[31m\u007f', '\\x00\\x1b[31m\\x7f'],
    ['x\u202ey', 'x\\u202ey'],
    ['\ud83d', '\ufffd'],
    ['日本 👩‍🔬 שלום', '日本 👩‍🔬 שלום'],
  ])('%j is shown as %j', (text, as) => {
    expect(shown(text)).toBe(as);
  });

  it('keeps its lines where it has some', () => {
    expect(shownLines('a\u0007\r\nb')).toBe('a\\x07\nb');
  });
});

describe('data within a page', () => {
  it('can not end its element, and is the same again', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { text: made } = embeddedJson({ text, [text]: 1 });
        expect(made).not.toMatch(/[<>&\u2028\u2029]/);
        expect(JSON.parse(made)).toEqual({ text, [text]: 1 });
      }),
      madeUp(),
    );
  });
});
