/** What docs/API.md tells a reader to type is typed here, at a real server. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { launcher } from './drover.ts';
import { Herd } from './herd.ts';

const page = readFileSync(resolve(import.meta.dirname, '..', '..', 'docs', 'API.md'), 'utf8');
const section = page.slice(page.indexOf('### A walk-through'), page.indexOf('### All of their requests'));
const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, code]) => code);

it('the walk-through of workers over HTTP works as it is written', async () => {
  const herd = new Herd();
  try {
    await herd.server();
    herd.write('walk.sh', ['set -euo pipefail', `drover() { ${launcher} "$@"; }`, ...blocks].join('\n'));
    const { code, stdout, stderr } = await herd.script(['bash', 'walk.sh']).ended;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('{"id":"k1","leaseMs":575000,"marginMs":60000,"heartbeatMs":15000}');
    expect(stdout).toContain('{"tasks":[{"id":"w1.1","maxTerminationMs":3000}]}');
    expect(stdout).toContain('"cancel":[],"attempts":["w1.1#1"]}');
    expect(stdout).toMatch(/"state": "done",\s+"outcome": \{\s+"kind": "succeeded"/);
    expect(await herd.ok('logs', 'w1.1')).toBe('hello\nworld\n');
    expect((await herd.workerView('k1'))?.state).toBe('gone');
  } finally {
    await herd.close();
  }
});
