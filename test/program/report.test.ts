/** The report as a person sees it: by the real program, in a real browser, with the network watched. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type BrowserPage, Chromium, type PageOptions } from '../browser/chromium.ts';
import { type Place, place } from './drover.ts';

const quickstart = resolve(import.meta.dirname, '..', '..', 'examples', 'quickstart.tasks');

let browser: Chromium;
let here: Place;
beforeAll(() => {
  browser = new Chromium();
});
afterAll(() => browser.close());
beforeEach(() => {
  here = place();
});
afterEach(() => here.remove());

async function opened(file: string, options: PageOptions = {}): Promise<BrowserPage> {
  const page = await browser.page(options);
  await page.open(pathToFileURL(join(here.path, file)).href);
  return page;
}

const textOf = (page: BrowserPage, selector: string): Promise<string> =>
  page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? 'there is none'`);

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
}

const boxesOf = (page: BrowserPage, selector: string): Promise<Box[]> =>
  page.evaluate(
    `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.getBoundingClientRect().toJSON())`,
  );

/** Of small print. */
const lineHeight = 13;

/** All that a page of others could do to who looks at it. */
async function mustBeHarmless(page: BrowserPage, file: string): Promise<void> {
  expect(page.requests).toEqual([pathToFileURL(join(here.path, file)).href]);
  expect(page.complaints).toEqual([]);
  expect(await page.evaluate('document.querySelectorAll("script, img, iframe, link, object").length')).toBe(2);
}

describe('the report of the quickstart', () => {
  it('opens without a request to anywhere, and answers the mouse and the keyboard', async () => {
    await here.run(['run', quickstart]);
    const { code, stderr } = await here.run(['report']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('report-w1.html tells of w1: 9 attempts')]);
    const page = await opened('report-w1.html');
    expect(await textOf(page, 'header')).toMatch(/w1\s+done/);
    expect(await textOf(page, '.tiles')).toMatch(/9 tasks\s+9 done/);
    expect(await page.evaluate('document.querySelectorAll(".bar").length')).toBe(9);
    expect(await textOf(page, '.facts')).toContain(`drover run ${quickstart}`);

    await page.hover('.bar');
    expect(await textOf(page, '#tip')).toMatch(
      /w1\.\d\nexit 0 after .+, on k1 .+\nfrom \d{4}-.+ UTC \(\+.+\)\nd=\$\{TMPDIR/,
    );
    await page.hover('.row:nth-of-type(3) svg');
    expect(await textOf(page, '#tip')).toMatch(/^\+.+\n[\d.]+ running\n[\d.]+ slots/);

    const shown = 'document.querySelector("svg[data-height]").getAttribute("viewBox").split(" ")[2]';
    const all = Number(await page.evaluate(shown));
    await page.evaluate('document.getElementById("timeline").focus()');
    await page.press('ArrowRight');
    const first = await textOf(page, '#tip .head');
    await page.press('ArrowRight');
    expect(await textOf(page, '#tip .head')).not.toBe(first);
    await page.press('+');
    expect(Number(await page.evaluate(shown))).toBeCloseTo(all / 2);
    await page.press('0');
    expect(Number(await page.evaluate(shown))).toBe(all);
    await page.evaluate('document.querySelector("#zoom button").click()');
    expect(Number(await page.evaluate(shown))).toBeCloseTo(all / 2);
    await page.press('Escape');
    expect(await page.evaluate('document.getElementById("tip").hidden')).toBe(true);
    await mustBeHarmless(page, 'report-w1.html');

    // What watches it does see what is wrong.
    const whole = readFileSync(join(here.path, 'report-w1.html'), 'utf8');
    const harm = '<img src="http://127.0.0.1:9/x"><script>document.title = 1</script></main>';
    writeFileSync(join(here.path, 'harmful.html'), whole.replace('</main>', harm));
    const harmful = await opened('harmful.html');
    expect(harmful.complaints.join()).toMatch(/Loading the image .*violates[\s\S]*Executing inline script violates/);
    expect(await harmful.evaluate('document.title')).toBe('w1 done');

    const dark = await opened('report-w1.html', { scheme: 'dark', hasScript: false });
    await mustBeHarmless(dark, 'report-w1.html');
    expect(await dark.picture()).not.toEqual(await (await opened('report-w1.html')).picture());
  });
});

/** Each would do harm where text is taken for more than that. */
const hostile = [
  `echo '</script><script>document.title = "taken"</script>' >&2; exit 3`,
  `echo '"><img src=http://127.0.0.1:9/x onerror="document.title=1">' >&2; exit 4`,
  `printf 'turned \\342\\200\\256 around \\033]0;x \\001 \\377\\376\\n' >&2; exit 5`,
  `true '<!--' '<style>*{display:none}</style>' '&lt;' 'a\u202eb' "$(: \`id\`)"`,
];

describe('a report of hostile commands and output', () => {
  it('shows them as text, and does nothing of what they say', async () => {
    const name = '</title><script>document.title = "taken"</script>';
    const input = `${hostile.join('\n')}\ntrue ${'x'.repeat(100_000)}\n`;
    await here.run(['run', '-', '--name', name], { input });
    await here.run(['report', 'w1', '-o', 'r.html']);
    const page = await opened('r.html');
    await mustBeHarmless(page, 'r.html');
    expect(await page.evaluate('document.title')).toBe(`w1 ${name} failed`);
    expect(await textOf(page, 'h1')).toContain(name);
    const text = await page.evaluate<string>('document.body.innerText');
    for (const part of ['</script><script>', 'onerror="document.title=1">', 'turned \\u202e around \\x1b]0;x \\x01']) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain('\u202e');
    for (let at = 0; at < 5; at++) {
      await page.hover(`.bar:nth-of-type(${at + 1})`);
      const told = await textOf(page, '#tip .command');
      expect([...hostile.map((command) => command.replace('\u202e', '\\u202e')), `true ${'x'.repeat(595)}…`]).toContain(
        told,
      );
    }
    expect(page.complaints).toEqual([]);
    expect(readFileSync(join(here.path, 'r.html')).length).toBeLessThan(200_000);
  });
});

describe('a report of a run that was resumed much later', () => {
  it('says how long nothing ran, where that can be read', async () => {
    await here.run(['run', '-'], { input: 'sleep 1\nfalse\n' });
    // More than half of all time, which is cut out then.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    await here.run(['resume', 'w1']);
    await here.run(['report', 'w1']);
    for (const hasScript of [true, false]) {
      const page = await opened('report-w1.html', { hasScript });
      expect(await textOf(page, '.grid i')).toMatch(/^[\d.]+ s idle$/);
      const [cut] = await boxesOf(page, '.grid i');
      const [grid] = await boxesOf(page, '.grid');
      expect(cut?.left).toBeGreaterThanOrEqual(grid?.left ?? Number.NaN);
      expect(cut?.right).toBeLessThanOrEqual(grid?.right ?? Number.NaN);
      const highest = Math.min(...(await boxesOf(page, '.bar')).map(({ top }) => top));
      expect((cut?.top ?? Number.NaN) + lineHeight).toBeLessThanOrEqual(highest);
    }
  });
});

describe('a report that is to be opened', () => {
  /** Programs that come before those of the machine. */
  const browsers = (scripts: Readonly<Record<string, string>>): Record<string, string> => {
    mkdirSync(join(here.path, 'bin'));
    for (const [name, script] of Object.entries(scripts)) {
      writeFileSync(join(here.path, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    }
    return { PATH: `${join(here.path, 'bin')}:${process.env.PATH}`, BROWSER: 'my-browser' };
  };
  const none = { 'xdg-open': 'exit 3', open: 'exit 1', wslview: 'exit 1' };

  it('is shown by the first program that can', async () => {
    const env = browsers({ ...none, 'my-browser': 'echo "$1" >shown' });
    await here.run(['run', '-'], { input: 'true\n' });
    const { code, stderr } = await here.run(['report', '--open'], { env });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('no browser')]);
    expect(readFileSync(join(here.path, 'shown'), 'utf8')).toBe(`${join(here.path, 'report-w1.html')}\n`);
  });

  it('is left to the user where none can', async () => {
    const env = browsers({ ...none, 'my-browser': 'exit 1' });
    await here.run(['run', '-'], { input: 'true\n' });
    const { code, stderr } = await here.run(['report', '--open'], { env });
    expect([code, stderr]).toEqual([0, expect.stringContaining('no browser could be started here; open /')]);
  });
});
