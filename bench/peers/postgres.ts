/**
 * PostgreSQL for one measurement: a cluster of its own, made anew, with the settings that it comes with (fsync and
 * synchronous_commit on), reached by a socket. The machine's own server, if any, is left alone.
 */
import { chownSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../src/sdk/pause.ts';
import { findProgram, missingProgram, programOf } from '../tools.ts';
import { lastWords, type User, type Workshop } from '../workshop.ts';

const readyMsMax = 30_000;
const pollMs = 50;

export const missingPostgres = (): string | undefined => missingProgram('initdb', 'apt-get install postgresql');

export async function postgresVersion(workshop: Workshop): Promise<string> {
  return (await workshop.run(programOf('postgres'), ['--version'])).stdout.trim();
}

/** It refuses to run as root. */
function unprivileged(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const fields = ['postgres', 'nobody'].map((name) => lines.find((line) => line.startsWith(`${name}:`))?.split(':'));
  const [, , uid, gid] = fields.find((found) => found !== undefined) ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

export async function withPostgres<Value>(
  workshop: Workshop,
  measure: (connectionString: string) => Promise<Value>,
): Promise<Value> {
  const user = unprivileged();
  const folder = workshop.scratch();
  const [data, sockets] = [join(folder, 'data'), join(folder, 'sockets')];
  for (const path of [data, sockets]) {
    mkdirSync(path, { mode: 0o700 });
    if (user !== undefined) chownSync(path, user.uid, user.gid);
  }
  const options = { cwd: '/', ...(user === undefined ? {} : { user }) };
  const owner = ['-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--no-locale'];
  await workshop.run(programOf('initdb'), ['-D', data, ...owner], options);
  const words = ['-D', data, '-k', sockets, '-c', 'listen_addresses='];
  const server = workshop.start(programOf('postgres'), words, options);
  try {
    await untilReady(workshop, sockets).catch((error) => {
      throw new Error(`${error instanceof Error ? error.message : error}: ${lastWords(server)}`);
    });
    return await measure(`postgres://bench@localhost/postgres?host=${encodeURIComponent(sockets)}`);
  } finally {
    // Fast, not smart: without waiting for clients.
    await workshop.stop(server, 'SIGINT');
    workshop.discard(folder);
  }
}

async function untilReady(workshop: Workshop, sockets: string): Promise<void> {
  const probe = findProgram('pg_isready');
  if (probe === undefined) throw new Error('pg_isready is missing');
  for (const deadline = performance.now() + readyMsMax; ; await pause(pollMs)) {
    try {
      await workshop.run(probe, ['-q', '-h', sockets]);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}
