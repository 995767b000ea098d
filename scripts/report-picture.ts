/** Makes docs/images/report.png anew: the top of the quickstart's report, as Chromium shows it. Needs `chromium` in PATH. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Chromium } from '../test/browser/chromium.ts';

const root = resolve(import.meta.dirname, '..');
const picture = join(root, 'docs', 'images', 'report.png');
const width = 1_100;
/** What the README has room for: all before this; the page goes on below. */
const below = '#page > .panels + h2';

const folder = mkdtempSync(join(tmpdir(), 'drover-picture-'));
const browser = new Chromium();
try {
  const drover = (...words: string[]): Buffer => execFileSync(join(root, 'drover'), words, { cwd: folder });
  drover('run', '--name', 'quickstart', join(root, 'examples', 'quickstart.tasks'));
  drover('report', '-o', 'report.html');
  const page = await browser.page({ width, scale: 1.5 });
  await page.open(pathToFileURL(join(folder, 'report.html')).href);
  const height = await page.evaluate<number>(`document.querySelector('${below}').getBoundingClientRect().top - 12`);
  const bytes = await page.picture(Math.floor(height));
  mkdirSync(join(root, 'docs', 'images'), { recursive: true });
  writeFileSync(picture, bytes);
  process.stdout.write(`${picture}: ${Math.round(bytes.length / 1_000)} kB\n`);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
