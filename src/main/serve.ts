/** `drover server`: a controller that stays up, in this process or in one of its own. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServeOptions, Serving } from '../cli/programs.ts';
import { type ControllerSettings, defaultSettings } from '../controller/reactor.ts';
import { DroverError, exitCodes, isErrorCode } from '../model/errors.ts';
import { presets } from '../model/timeouts.ts';
import { accessPath, readAccessFile } from '../platform/node/access-file.ts';
import { onDisk } from '../platform/node/disk-failure.ts';
import { siblingScript } from '../platform/node/scripts.ts';
import type { ErrorBody } from '../protocol/views/requests.ts';
import { pause } from '../sdk/pause.ts';
import { prepareDirectory } from '../store/sqlite/directory.ts';
import { findDirectory } from './folder.ts';
import { type Host, type HostOptions, type ListenAddress, startHost } from './host.ts';

/** A store with millions of tasks takes a while to load. */
const detachMsMax = 60_000;
/** For one that is ending. */
const endMsMax = 5_000;
const pollMs = 50;

export async function serve(
  version: string,
  options: ServeOptions,
  onReady: (serving: Serving) => void,
  onFatal: (error: unknown) => void,
): Promise<number> {
  const { dir, listen, logLevel, tlsCert: certificate, tlsKey: key } = options;
  const directory = findDirectory(dir);
  prepareDirectory(directory);
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const address = listen === undefined ? {} : { listen: parseListen(listen) };
  const tls = certificate === undefined || key === undefined ? {} : { tls: { certificate, key } };
  const level = logLevel === undefined ? {} : { logLevel };
  const host = await startWhenFree({
    directory,
    version,
    onFatal,
    onStop: () => stop(),
    settings: settingsOf(options),
    ...address,
    ...tls,
    ...level,
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  onReady({ url: host.access.url, pid: process.pid, directory });
  await stopped;
  // Workers stay, with what they run: the next controller adopts them.
  await host.close();
  return exitCodes.ok;
}

const settingsOf = (options: ServeOptions): ControllerSettings => ({
  timeouts: presets[options.preset ?? 'cluster'],
  healthCheck: options.healthCheck ?? defaultSettings.healthCheck,
  mayBumpUnhealthy: options.allowBumpUnhealthyWorker ?? false,
});

/** A controller that is ending has taken its access file away already, and frees the folder in a moment. */
async function startWhenFree(options: HostOptions): Promise<Host> {
  for (const deadline = performance.now() + endMsMax; ; await pause(pollMs)) {
    try {
      return await startHost(options);
    } catch (error) {
      const isLocked = error instanceof DroverError && error.code === 'store-locked';
      const isReady = existsSync(accessPath(options.directory));
      if (!isLocked || isReady || performance.now() >= deadline) throw error;
    }
  }
}

export function parseListen(text: string): ListenAddress {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:\s]*)(?::(\d{1,5}))?$/.exec(text);
  const port = Number(match?.[2] ?? 0);
  if (match === null || port > 65_535) {
    throw new DroverError('bad-input', `'${text}' is not an address to listen on`, {
      hint: 'for example 127.0.0.1:7070, :7070 or 0.0.0.0:7070',
    });
  }
  return { host: (match[1] ?? '').replace(/^\[|\]$/g, '') || '127.0.0.1', port };
}

export async function serveDetached(options: ServeOptions): Promise<Serving> {
  const { dir } = options;
  const directory = findDirectory(dir);
  prepareDirectory(directory);
  const path = join(directory, 'logs', 'server.err');
  // One that runs here already may have written there: only what comes after that is of this start.
  const errors = openErrors(path);
  const begin = fstatSync(errors).size;
  const child = spawn(
    process.execPath,
    [
      ...process.execArgv.filter((flag) => !flag.startsWith('--inspect')),
      siblingScript(import.meta.url, 'cli'),
      ...['server', '--json', '--dir', directory],
      ...wordsOf(options),
    ],
    { detached: true, stdio: ['ignore', errors, errors] },
  );
  closeSync(errors);
  child.unref();
  for (const deadline = performance.now() + detachMsMax; performance.now() < deadline; ) {
    const access = readAccessFile(accessPath(directory));
    if (access?.pid !== undefined && access.pid === child.pid) return { url: access.url, pid: access.pid, directory };
    if (child.exitCode !== null) break;
    await pause(pollMs);
  }
  throw errorIn(readFileSync(path).subarray(begin).toString()) ?? notUp(directory);
}

/** The options that make the process in the background the same as one in the foreground. */
function wordsOf(options: ServeOptions): string[] {
  const { listen, tlsCert, tlsKey, logLevel, preset, healthCheck, allowBumpUnhealthyWorker } = options;
  const named = {
    listen,
    'tls-cert': tlsCert,
    'tls-key': tlsKey,
    'log-level': logLevel,
    preset,
    'health-check': healthCheck,
  };
  const words = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value]));
  return allowBumpUnhealthyWorker ? [...words, '--allow-bump-unhealthy-worker'] : words;
}

function openErrors(path: string): number {
  return onDisk(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    return openSync(path, 'a', 0o600);
  });
}

/** What it said with --json, as it would have been said here. */
function errorIn(said: string): DroverError | undefined {
  const line = said.split('\n').find((text) => text.startsWith('{"error":'));
  if (line === undefined) return undefined;
  const { error } = JSON.parse(line) as ErrorBody;
  return isErrorCode(error.code) ? new DroverError(error.code, error.message, { hint: error.hint }) : undefined;
}

const notUp = (directory: string): DroverError =>
  new DroverError('controller-unreachable', 'the server did not come up', {
    hint: `see server.err and controller.log in ${join(directory, 'logs')}`,
  });
