/** Structured logs, a JSON object a line. */
import { renameSync, statSync } from 'node:fs';
import { type Logger, pino } from 'pino';

/** A log that has grown beyond this is set aside, once, when it is opened next. */
const logBytesMax = 10 * 1024 * 1024;

export function openLog(path: string, name: string): Logger {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logBytesMax) renameSync(path, `${path}.1`);
  const destination = pino.destination({ dest: path, mkdir: true, sync: true });
  const level = process.env.DROVER_LOG_LEVEL ?? 'info';
  return pino({ name, level, timestamp: pino.stdTimeFunctions.isoTime, base: { pid: process.pid } }, destination);
}
