/** A few hundred seeds hold, a seed tells the same story twice, and defects that are switched on are found. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { patched } from './mutation.ts';
import { mutations } from './mutations.ts';
import { drawPlan } from './plan.ts';
import { runPlan } from './run.ts';
import { scenarios } from './scenarios/scenarios.ts';

const seedsMs = 240_000;

function sim(...args: string[]): Promise<{ code: number | null; text: string }> {
  const main = new URL('main.ts', import.meta.url).pathname;
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, ...args], { maxBuffer: 1 << 26 }, (_, out, err) =>
      resolve({ code: child.exitCode, text: out + err }),
    );
  });
}

describe('the simulator', () => {
  it('finds no violation in a few hundred seeds', { timeout: seedsMs }, async () => {
    const { code, text } = await sim('--seeds', '200', '--from', '1000');
    expect(code, text).toBe(0);
    expect(text).toContain('violations       0');
  });

  it('plays a seed the same way twice', async () => {
    const first = await runPlan(drawPlan(3));
    const second = await runPlan(drawPlan(3));
    expect(second).toEqual(first);
    expect(first.steps).toBeGreaterThan(100);
    const other = await runPlan(drawPlan(4));
    expect(other.hash).not.toBe(first.hash);
  });

  it.each(Object.entries(scenarios))('holds in the scenario %s', async (_, plan) => {
    const { violation } = await runPlan(plan);
    expect(violation?.message).toBeUndefined();
  });
});

describe.each(mutations)('the mutation $name', (mutation) => {
  it.each(mutation.patches)('applies to $file as it is', (patch) => {
    const source = readFileSync(new URL(`../src/${patch.file}`, import.meta.url), 'utf8');
    expect(patched(source, patch)).not.toBe(source);
  });

  it(`is found in the scenario ${mutation.scenario}`, async () => {
    const { code, text } = await sim('--mutation', mutation.name, '--scenario', mutation.scenario);
    expect(code, text).toBe(1);
    expect(text).toMatch(/^invariant \w+: /m);
  });
});
