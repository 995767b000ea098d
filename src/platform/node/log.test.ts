import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLog } from './log.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const linesOf = (name: string): { n?: number; msg: string }[] =>
  readFileSync(join(folder, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

it('is set aside when it has grown large, while it is written, and loses no line', () => {
  const log = openLog(join(folder, 'a.log'), 'test', 'info', 10_000);
  let n = 0;
  while (statSync(join(folder, 'a.log.1'), { throwIfNoEntry: false }) === undefined) log.info({ n: n++ }, 'line');
  log.info({ n }, 'the last');
  const all = [...linesOf('a.log.1'), ...linesOf('a.log')];
  expect(all.map((line) => line.n)).toEqual(Array.from({ length: n + 1 }, (_, at) => at));
  expect(statSync(join(folder, 'a.log.1')).size).toBeLessThan(10_500);
});

it('that can not be written harms nobody', () => {
  const log = openLog('/dev/full', 'test');
  log.error({}, 'nobody hears this');
});

it('says so when the level of the environment is none', () => {
  process.env.DROVER_LOG_LEVEL = 'loud';
  try {
    openLog(join(folder, 'b.log'), 'test');
  } finally {
    delete process.env.DROVER_LOG_LEVEL;
  }
  expect(linesOf('b.log')).toMatchObject([{ msg: 'DROVER_LOG_LEVEL is none of the levels' }]);
});
