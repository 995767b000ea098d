/** Structured logs, a JSON object a line. */
import { renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Logger, pino } from 'pino';
import { type LogLevel, logLevels } from '../../model/limits.ts';
import { onDisk } from './disk-failure.ts';
import { makeDirectory } from './make-directory.ts';

/** A log that has grown beyond this is set aside, in the place of the one before it. */
const logBytesMax = 10 * 1024 * 1024;

export function openLog(path: string, name: string, given?: LogLevel, bytesMax = logBytesMax): Logger {
  const destination = openDestination(path);
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const setAside = (): void => {
    renameSync(path, `${path}.1`);
    destination.reopen();
    size = 0;
  };
  destination.on('write', (bytes: number) => {
    size += bytes;
    if (size > bytesMax) setAside();
  });
  // A disk that takes no more lines must not end what it is the log of.
  destination.on('error', () => {});
  const wanted = given ?? process.env.DROVER_LOG_LEVEL ?? 'info';
  const level = logLevels.find((known) => known === wanted) ?? 'info';
  const log = pino({ name, level, timestamp: pino.stdTimeFunctions.isoTime, base: { pid: process.pid } }, destination);
  if (level !== wanted) log.warn({ wanted, levels: logLevels }, 'DROVER_LOG_LEVEL is none of the levels');
  return log;
}

function openDestination(path: string): ReturnType<typeof pino.destination> {
  return onDisk(path, () => {
    makeDirectory(dirname(path));
    return pino.destination({ dest: path, sync: true });
  });
}

const complaintsPerSecondMax = 10;

/** For complaints of whoever reaches the port: they must not keep the disk busy with lines. */
export function sparingly(say: (facts: object, message: string) => void) {
  let since = 0;
  let said = 0;
  return (facts: object, message: string): void => {
    if (performance.now() - since > 1_000) {
      since = performance.now();
      said = 0;
    }
    if (said++ < complaintsPerSecondMax) say(facts, message);
  };
}
