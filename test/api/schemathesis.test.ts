/**
 * Schemathesis against a real controller, where it is installed (`pip install schemathesis`): it makes requests up from
 * the OpenAPI document, by ways of its own. Its token goes by the environment, since arguments can be seen by everybody.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Client } from '../../src/sdk/client.ts';
import { startController } from '../controller/in-process.ts';
import { plainSpec } from '../controller/spec.ts';

const isThere = spawnSync('schemathesis', ['--version']).status === 0;
const seconds = Number(process.env.DROVER_TEST_SCHEMATHESIS_SECONDS ?? 20);

async function outputOf(words: readonly string[], cwd: string, token: string): Promise<{ code: number; text: string }> {
  const child = spawn('schemathesis', words, { cwd, env: { ...process.env, DROVER_TOKEN: token } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (piece) => (text += piece));
  const code = await new Promise<number>((resolve) => child.once('close', (exit) => resolve(exit ?? 1)));
  return { code, text };
}

it.skipIf(!isThere)('finds no request that is answered with 5xx', { timeout: 10 * seconds * 1_000 }, async () => {
  const controller = await startController();
  const folder = mkdtempSync(join(tmpdir(), 'drover-schemathesis-'));
  try {
    const { url, token } = controller.access;
    const client = new Client(controller.access);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Schemathesis that puts the variable in.
    writeFileSync(join(folder, 'schemathesis.toml'), 'headers = { Authorization = "Bearer ${DROVER_TOKEN}" }\n');
    await client.submitWhole(plainSpec, { tasks: [{ command: 'a' }, { command: 'fail b', held: true }], edges: [] });
    const words = [
      ...['run', `${url}/api/v1/openapi.json`, '--checks', 'not_a_server_error', '--max-time', String(seconds)],
      ...['--exclude-path-regex', '/server/stop|/events/stream', '--request-timeout', '40', '--continue-on-failure'],
    ];
    const { code, text } = await outputOf(words, folder, token);
    expect(code, text).toBe(0);
    // It was let in, and some of its requests were good ones.
    expect((await client.workflows()).workflows.length).toBeGreaterThan(1);
  } finally {
    rmSync(folder, { recursive: true });
    await controller.close();
  }
});
