/**
 * A controller hosted by a command: it takes the folder's lock, recovers from the store, listens on loopback, and has
 * one worker of its own, which it starts again when it dies.
 */
import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Attendance } from '../api/attendance.ts';
import { EventStreams } from '../api/events/streams.ts';
import { Gate } from '../api/gate.ts';
import { admitLink, type LinkServices } from '../api/links.ts';
import { startNotifications } from '../api/notifications/notifications.ts';
import { createApi } from '../api/server.ts';
import type { ControllerSettings } from '../controller/reactor.ts';
import { recoverController } from '../controller/recover.ts';
import type { ControllerShell } from '../controller/shell.ts';
import { DroverError } from '../model/errors.ts';
import { type LogLevel, statisticsLimits } from '../model/limits.ts';
import type { Clock, Log } from '../platform/env.ts';
import { type AccessFile, loadTokens, removeAccessFile, writeAccessFile } from '../platform/node/access-file.ts';
import { type Certificate, loadCertificate } from '../platform/node/certificate.ts';
import { realClock } from '../platform/node/clock.ts';
import { makeHttpServer } from '../platform/node/http-server.ts';
import { openLog, sparingly } from '../platform/node/log.ts';
import { NodeLoopMeter } from '../platform/node/loop-meter.ts';
import { machineHere } from '../platform/node/machine.ts';
import { NodeOutputPacks } from '../platform/node/output-packs.ts';
import { type CertificateFiles, daysLeft, leafOf, loadOwnCertificate } from '../platform/node/own-certificate.ts';
import { compilePattern } from '../platform/node/patterns.ts';
import * as secrets from '../platform/node/secrets.ts';
import { acceptLinks } from '../platform/node/sockets.ts';
import { makeWebhooks } from '../platform/node/webhooks.ts';
import { workerProtocolVersion } from '../protocol/worker.ts';
import { storeFailure } from '../store/sqlite/failure.ts';
import { takeLock } from '../store/sqlite/lock.ts';
import { storeVersion } from '../store/sqlite/migrations.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';

export interface Host {
  readonly shell: ControllerShell;
  readonly attendance: Attendance;
  readonly access: { readonly url: string; readonly token: string; readonly certificate?: string };
  close(): Promise<void>;
}

export interface HostOptions {
  readonly directory: string;
  readonly version: string;
  /** Loopback with a free port by default. Anything else is served with TLS only. */
  readonly listen?: ListenAddress;
  /** Instead of the certificate that is made at the first start off loopback. */
  readonly tls?: CertificateFiles;
  readonly logLevel?: LogLevel;
  readonly settings?: ControllerSettings;
  /** For a command that only looks: nobody else is let in, and nothing is started. */
  readonly isPrivate?: boolean;
  /** The store failed: nothing can be acknowledged any more. */
  onFatal(error: unknown): void;
  /** A client asked it to end. */
  readonly onStop?: () => void;
  /** Before anybody, be it a worker, can reach it. */
  readonly beforeListening?: (shell: ControllerShell) => Promise<void>;
}

export interface ListenAddress {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

const loopback: ListenAddress = { host: '127.0.0.1', port: 0 };
const isLoopback = ({ host }: ListenAddress): boolean => /^(127\.[\d.]+|::1|localhost)$/.test(host);
const isAnyHost = ({ host }: ListenAddress): boolean => host === '0.0.0.0' || host === '::';

/** The folder is this process's until `release`; whatever fails on the way gives it back. */
export async function startHost(options: HostOptions, lock = takeLock(options.directory)): Promise<Host> {
  try {
    return await hostLocked(options, () => lock.release());
  } catch (error) {
    lock.release();
    throw storeFailure(error, options.directory);
  }
}

async function hostLocked(options: HostOptions, release: () => void): Promise<Host> {
  const { directory, version, onStop } = options;
  const log = openLog(join(directory, 'logs', 'controller.log'), 'controller', options.logLevel);
  const listen = options.listen ?? loopback;
  const tls = certificateFor(listen, options, Date.now());
  const store = openSqliteStore(directory);
  const packs = new NodeOutputPacks(join(directory, 'output'));
  const tokens = loadTokens(directory);
  const onFatal = (error: unknown): void => {
    log.error({ err: error }, 'the store failed; the controller ends');
    options.onFatal(error);
  };
  const world = { clock: realClock(), store, packs, log, defer: setImmediate, onFatal };
  const shell = await recoverController(world, randomUUID(), options.settings);
  const { isPrivate = false } = options;
  await options.beforeListening?.(shell);
  const webhooks = makeWebhooks({ mayReachLoopback: isLoopback(listen) });
  const notifications = isPrivate
    ? undefined
    : await startNotifications({ shell, webhooks, log, version, sign: secrets.sign });
  // Later, so that what is first dispatched need not wait for it.
  const reading = world.clock.at(world.clock.now() + statisticsLimits.rebuildAfterMs, () => shell.observations.begin());
  const renewal = tls === undefined ? undefined : remindOfRenewal(tls, world.clock, log);
  const attendance = new Attendance();
  const warn = sparingly((facts, message) => log.warn(facts, message));
  const createServer = (handler: RequestListener): Server =>
    makeHttpServer(handler, tls, () => warn({}, 'too many connections; a new one was dropped'));
  const loopMeter = isPrivate ? undefined : new NodeLoopMeter();
  const gate = new Gate({ secrets, clock: world.clock, own: tokens, tokens: shell.controller.tokens });
  const streams = new EventStreams(shell);
  const api = createApi({
    ...{ shell, gate, streams, attendance, loopMeter, version, onStop, createServer, compilePattern },
    facts: {
      machine: machineHere(),
      versions: { node: process.versions.node, protocol: workerProtocolVersion, store: storeVersion },
    },
  });
  const links = acceptVisitors(api.server, { shell, gate, streams }, isPrivate, warn);
  mustBeSafe(listen, tls !== undefined, tokens);
  const [url, ...otherUrls] = await listenOn(api, listen, tls !== undefined);
  const certificate = tls === undefined ? {} : { certificate: leafOf(tls.certificate) };
  if (!isPrivate) writeAccessFile(directory, { version: 1, url, otherUrls, pid: process.pid, tokens, ...certificate });
  log.info({ url, epoch: store.epoch }, 'the controller is ready');
  const close = async (): Promise<void> => {
    removeAccessFile(directory);
    await notifications?.close();
    await shell.close();
    links.closeAll();
    await api.close();
    renewal?.stop();
    reading.cancel();
    loopMeter?.stop();
    await packs.close();
    await store.close();
    log.info('the controller ended');
    release();
  };
  return { shell, attendance, access: { url, token: tokens.admin, ...certificate }, close };
}

/** None on loopback, unless one is brought along. */
function certificateFor(listen: ListenAddress, { directory, tls }: HostOptions, now: number): Certificate | undefined {
  if (tls !== undefined) return loadOwnCertificate(tls, now);
  return isLoopback(listen) ? undefined : loadCertificate(directory);
}

const reminderMs = 86_400_000;

/** Now, and once a day. */
function remindOfRenewal({ certificate }: Certificate, clock: Clock, log: Log): { stop(): void } {
  const remind = (): void => {
    const days = daysLeft(certificate, clock.now());
    if (days !== undefined)
      log.warn({ days }, 'the certificate is about to expire: renew it, and start the server anew');
  };
  remind();
  const timer = setInterval(remind, reminderMs);
  return { stop: () => clearInterval(timer) };
}

/** Whoever can reach it must bring a token, and nobody on the way may read it. */
function mustBeSafe(listen: ListenAddress, isTls: boolean, tokens: AccessFile['tokens']): void {
  const hasTokens = tokens.admin !== '' && tokens.worker !== '';
  if (isLoopback(listen) || (isTls && hasTokens)) return;
  throw new DroverError(
    'address-unusable',
    `${listen.host} is not loopback: without TLS and tokens nobody listens there`,
  );
}

type Warn = (facts: object, message: string) => void;

/** Into a private one nobody is let in. */
function acceptVisitors(server: Server, services: LinkServices, isPrivate: boolean, onTrouble: Warn) {
  const none = { status: 404, error: new DroverError('bad-input', 'no links are served there') };
  return acceptLinks(server, { admit: (visitor) => (isPrivate ? none : admitLink(services, visitor)), onTrouble });
}

const listenFailures: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there',
  EACCES: 'ports below 1024 are for root',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'no such host is known',
  EAI_AGAIN: 'the name of the host can not be looked up now',
};

/** Returns the addresses that others reach it at, the best first. */
async function listenOn(
  api: ReturnType<typeof createApi>,
  listen: ListenAddress,
  isTls: boolean,
): Promise<[string, ...string[]]> {
  try {
    await api.listen({ host: listen.host, port: listen.port });
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    const what = listenFailures[reason] ?? reason;
    throw new DroverError('address-unusable', `can't listen on ${listen.host}:${listen.port}: ${what}`, { cause });
  }
  const { port } = api.server.address() as AddressInfo;
  const urlOf = (host: string): string =>
    `${isTls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  return isAnyHost(listen) ? [urlOf(hostname()), ...ownAddresses().map(urlOf)] : [urlOf(listen.host)];
}

/** A host name may mean nothing elsewhere, or even here: then these do. Loopback is last, for this machine's own use. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const usable = all.filter(({ address, internal }) => !internal && !address.startsWith('fe80:'));
  return [...usable.map(({ address }) => address), '127.0.0.1'];
}
