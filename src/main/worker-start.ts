/** The worker that a hosting command starts as its child, from its arguments. */
import { parseArgs } from 'node:util';
import { DroverError } from '../model/errors.ts';
import { openLog } from '../platform/node/log.ts';
import { capacityHere } from '../platform/node/machine.ts';
import { startWorker, workerExitCodes } from './worker-process.ts';

/** How long a new worker waits for the last holder of its lock to die. */
const lockWaitMs = 30_000;

const { values } = parseArgs({
  options: {
    access: { type: 'string', default: '' },
    directory: { type: 'string', default: '' },
    slots: { type: 'string', default: '1' },
    log: { type: 'string', default: '' },
  },
});
const log = openLog(values.log, 'worker');
const worker = await startWorker({
  access: values.access,
  slots: Number(values.slots),
  capacity: capacityHere(),
  openLog: () => log,
  directories: [values.directory],
  lockWaitMs,
  isStanding: false,
  onConnection: () => {},
  onComeBack: () => {},
  onEnd: (end) => process.exit(workerExitCodes[end]),
}).catch((error: unknown) => {
  log.error({ err: error }, 'the worker can not start');
  // Whoever started this process reads it there, and says it.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  const isLocked = error instanceof DroverError && error.code === 'worker-not-starting';
  process.exit(isLocked ? workerExitCodes.locked : workerExitCodes.unstartable);
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => worker.stop());
