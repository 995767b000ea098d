/** BullMQ on a Redis of its own that writes every change to disk before it answers. */
import { join } from 'node:path';
import { pause } from '../../src/sdk/pause.ts';
import type { Contender } from '../row.ts';
import { missingPackage, missingProgram, programOf } from '../tools.ts';
import { lastWords, type Workshop } from '../workshop.ts';
import { packageVersion, runJobs } from './node-jobs.ts';
import { firstLine } from './xargs.ts';

const readyMsMax = 20_000;
const pollMs = 50;

export const bullmq = (n: number): Contender => ({
  name: 'bullmq',
  note: 'Redis with appendfsync always',
  missing: () =>
    missingPackage('bullmq') ??
    missingPackage('ioredis') ??
    missingProgram('redis-server', 'apt-get install redis-server'),
  version: async (workshop) => {
    const redis = await workshop.run(programOf('redis-server'), ['--version']);
    return `${packageVersion('bullmq')}, ${firstLine(redis.stdout)}`;
  },
  measure: (workshop) => withRedis(workshop, (socket) => runJobs(workshop, 'bullmq-jobs.ts', n, socket)),
});

async function withRedis<Value>(workshop: Workshop, measure: (socket: string) => Promise<Value>): Promise<Value> {
  const folder = workshop.scratch();
  const socket = join(folder, 'redis.sock');
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
  const words = ['--port', '0', '--unixsocket', socket, '--dir', folder, ...durable];
  const server = workshop.start(programOf('redis-server'), words, { cwd: folder });
  try {
    await untilReady(workshop, socket).catch(() => {
      throw new Error(`Redis did not come up: ${lastWords(server)}`);
    });
    return await measure(socket);
  } finally {
    await workshop.stop(server);
    workshop.discard(folder);
  }
}

async function untilReady(workshop: Workshop, socket: string): Promise<void> {
  for (const deadline = performance.now() + readyMsMax; ; await pause(pollMs)) {
    try {
      await workshop.run(programOf('redis-cli'), ['-s', socket, 'ping']);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
  }
}
