/** `drover server`: a controller that stays up, and what can be asked of it. */
import { resolve } from 'node:path';
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { LogLevel } from '../../model/limits.ts';
import type { PresetName } from '../../model/timeouts.ts';
import { showDuration } from '../../model/units.ts';
import type { LoopDelayView } from '../../protocol/views/server.ts';
import type { Client } from '../../sdk/client.ts';
import { pause } from '../../sdk/pause.ts';
import { type CommonOptions, type Context, inFolder, printJson, withLiveClient } from '../context.ts';
import type { CliEnv } from '../environment.ts';
import type { Serving } from '../programs.ts';

export interface ServerOptions extends CommonOptions {
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly detach?: boolean;
  readonly logLevel?: LogLevel;
  readonly preset?: PresetName;
  readonly healthCheck?: string;
  readonly allowBumpUnhealthyWorker?: boolean;
}

export async function server(
  context: Context,
  action: 'stop' | 'status' | undefined,
  options: ServerOptions,
): Promise<number> {
  if (action === undefined) return options.detach ? detach(context, options) : serve(context, options);
  const { dir: _, json: __, logLevel: ___, ...forStart } = options;
  const [given] = Object.keys(forStart);
  if (given !== undefined) {
    const option = given.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    throw new DroverError('bad-input', `--${option} is for a start, not for ${action}`, {
      hint: `leave it away, or start a server without the word ${action}`,
    });
  }
  return action === 'stop' ? stop(context, options) : status(context, options);
}

function serveOptions({ env }: Context, { dir, json: _, detach: __, tlsCert, tlsKey, ...options }: ServerOptions) {
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw new DroverError('bad-input', '--tls-cert and --tls-key belong together', {
      hint: 'name both files, or none',
    });
  }
  const files =
    tlsCert === undefined || tlsKey === undefined
      ? {}
      : { tlsCert: resolve(env.cwd, tlsCert), tlsKey: resolve(env.cwd, tlsKey) };
  return { ...inFolder(dir), ...files, ...options };
}

async function serve(context: Context, options: ServerOptions): Promise<number> {
  const { env, programs } = context;
  const code = await programs.serve(serveOptions(context, options), (serving) => {
    void announce(env, serving, options, "Ctrl-C or 'drover server stop' ends it");
  });
  if (!options.json) await env.stderr.write('drover: the server ended; workers wait a while for the next one\n');
  return code;
}

async function detach(context: Context, options: ServerOptions): Promise<number> {
  const { env, programs } = context;
  const serving = await programs.serveDetached(serveOptions(context, options));
  await announce(env, serving, options, "'drover server stop' ends it");
  return exitCodes.ok;
}

async function announce(env: CliEnv, serving: Serving, { json }: ServerOptions, howToEnd: string): Promise<void> {
  const { url, pid, directory } = serving;
  if (json) await printJson(env, { url, pid, directory });
  else await env.stderr.write(`drover: the server of ${directory} is ready at ${url} (pid ${pid}); ${howToEnd}\n`);
}

function status(context: Context, options: ServerOptions): Promise<number> {
  const { env } = context;
  return withLiveClient(context, options, async (client, url) => {
    const view = await client.server();
    const { version, pid, uptimeMs, workers, slots, loopDelayMs } = view;
    const up = showDuration(uptimeMs);
    const lag = loopDelayMs === undefined ? {} : { lag: showDelay(loopDelayMs) };
    if (options.json) await printJson(env, { ...view, url });
    else {
      const rows = Object.entries({ version, pid, url, up, workers, slots, ...lag });
      await env.stdout.write(rows.map(([name, value]) => `${name.padEnd(9)}${value}\n`).join(''));
    }
    return exitCodes.ok;
  });
}

/** How long requests wait for their turn: a server that is busy shows it here. */
const showDelay = ({ p50, p99, max, overMs }: LoopDelayView): string =>
  `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms in the last ${showDuration(overMs)}`;

function stop(context: Context, options: ServerOptions): Promise<number> {
  const { env } = context;
  return withLiveClient(context, options, async (client) => {
    const { pid } = await client.stopServer();
    await untilGone(client);
    if (options.json) await printJson(env, { pid, state: 'stopped' });
    else await env.stdout.write(`the server (pid ${pid}) has stopped\n`);
    return exitCodes.ok;
  });
}

const stopMsMax = 30_000;
const stopPollMs = 20;

async function untilGone(client: Client): Promise<void> {
  for (const deadline = performance.now() + stopMsMax; performance.now() < deadline; await pause(stopPollMs)) {
    try {
      await client.server();
    } catch (error) {
      if (error instanceof DroverError) return;
      throw error;
    }
  }
  throw new DroverError('controller-stopping', 'the server was told to stop, but still answers', {
    hint: "'drover server status' tells its process",
  });
}
