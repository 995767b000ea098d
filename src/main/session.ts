/** How a command reaches a controller: a live one of its folder if there is one, else one that it hosts itself. */
import { existsSync, rmSync } from 'node:fs';
import type { Attendance } from '../api/attendance.ts';
import type { OpenSession, Session, SessionOptions } from '../cli/session.ts';
import { DroverError, type ErrorCode } from '../model/errors.ts';
import { printWorkflow } from '../model/ids.ts';
import { accessDamaged, accessPath, isAccessDamaged, readAccessFile, urlsOf } from '../platform/node/access-file.ts';
import { slotsNote } from '../platform/node/descriptors.ts';
import { pinnedFetch } from '../platform/node/pinned-fetch.ts';
import { Client } from '../sdk/client.ts';
import { pause } from '../sdk/pause.ts';
import type { Access, Patience } from '../sdk/transport.ts';
import { prepareDirectory } from '../store/sqlite/directory.ts';
import { takeLock } from '../store/sqlite/lock.ts';
import { broughtToken } from './brought-token.ts';
import { findDirectory } from './folder.ts';
import type { Host } from './host.ts';
import { LocalWorker } from './local-worker.ts';

/** A controller that holds the lock but does not answer is starting or ending: it gets this long. */
const joinMsMax = 15_000;
const joinPollMs = 50;
/** Output that workers still have is fetched before they are dismissed, for so long at most. */
const fetchMsMax = 600_000;
const dismissMsMax = 5_000;
/** A joined controller that is away is waited for so long. */
const awayMsMax = 60_000;

const clientAccess = (url: string, token: string, certificate: string | undefined) =>
  certificate === undefined ? { url, token } : { url, token, fetch: pinnedFetch(certificate) };

interface Joined extends Pick<Session, 'client' | 'url' | 'otherUrls' | 'certificate'> {}

type JoinOptions = Required<Pick<SessionOptions, 'submits' | 'attends'>> & Pick<SessionOptions, 'patience'>;

/** All the addresses at which the controller of a folder may be reached, as its access file has them now. */
function addressesOf(directory: string): readonly Access[] {
  const access = readAccessFile(accessPath(directory));
  if (access === undefined) return [];
  const token = broughtToken() ?? access.tokens.admin;
  return urlsOf(access).map((url) => clientAccess(url, token, access.certificate));
}

async function join(directory: string, options: JoinOptions): Promise<Joined | undefined> {
  const { patience } = options;
  const addresses = addressesOf(directory);
  const access = addresses.length > 1 ? await firstToAnswer(addresses) : addresses[0];
  if (access === undefined) return undefined;
  const client = new Client(access, patience === undefined ? undefined : patienceIn(directory, patience));
  await greet(client, options);
  const { url } = access;
  const certificate = readAccessFile(accessPath(directory))?.certificate;
  const otherUrls = addresses.map((address) => address.url).filter((other) => other !== url);
  return { client, url, otherUrls, ...(certificate === undefined ? {} : { certificate }) };
}

/** Who may only read can't keep anybody waiting, and reads all the same. */
async function greet(client: Client, { submits, attends }: JoinOptions): Promise<void> {
  if (submits) await client.announce();
  else if (!attends || !(await client.announce().then(() => true, isForbidden))) await client.server();
}

function isForbidden(error: unknown): false {
  if (error instanceof DroverError && error.code === 'role-not-allowed') return false;
  throw error;
}

/** Asked all at once: an address that means nothing here would keep the others waiting. */
async function firstToAnswer(addresses: readonly Access[]): Promise<Access> {
  try {
    return await Promise.any(addresses.map((access) => new Client(access).server().then(() => access)));
  } catch (error) {
    throw error instanceof AggregateError ? error.errors[0] : error;
  }
}

const patienceIn = (directory: string, { onAway, onBack }: NonNullable<SessionOptions['patience']>): Patience => ({
  ms: awayMsMax,
  addresses: () => addressesOf(directory),
  onAway: ({ message }) => onAway(message),
  onBack,
});

/** Or why one that is there does not let this command in. */
async function tryJoin(directory: string, options: JoinOptions): Promise<Joined | DroverError | undefined> {
  try {
    return await join(directory, options);
  } catch (error) {
    return error instanceof DroverError && refusals.includes(error.code) ? error : undefined;
  }
}

const refusals: readonly ErrorCode[] = ['not-authorised', 'token-expired', 'token-revoked', 'role-not-allowed'];

const absent: readonly ErrorCode[] = ['controller-unreachable', 'controller-stopping'];

/** For a command that never hosts. */
async function mustJoin(directory: string, options: JoinOptions): Promise<Joined> {
  let why = '';
  try {
    const joined = await join(directory, options);
    if (joined !== undefined) return joined;
    if (isAccessDamaged(directory)) throw accessDamaged(directory);
  } catch (error) {
    if (!(error instanceof DroverError && absent.includes(error.code))) throw error;
    if (/certificate/.test(error.message)) throw wrongCertificate(directory, error);
    why = `: ${error.message}`;
  }
  throw new DroverError('controller-unreachable', `no controller runs for ${directory}${why}`, {
    hint: "start one with 'drover server --detach'",
  });
}

const wrongCertificate = (directory: string, cause: unknown): DroverError =>
  new DroverError('not-authorised', `who answers does not have the certificate that ${accessPath(directory)} names`, {
    hint: 'copy the access file from the machine of the controller again',
    cause,
  });

interface HostingOptions {
  readonly directory: string;
  readonly version: string;
  /** Absent for a command that only looks. */
  readonly slots: number | undefined;
  onFatal(error: unknown): void;
}

interface Hosted extends Host {
  readonly worker: LocalWorker | undefined;
  /** What an earlier host left going on. */
  readonly interrupted: readonly string[];
}

/** Its worker starts while the controller does: each takes about as long. */
async function host({ directory, version, slots, onFatal }: HostingOptions): Promise<Hosted> {
  const lock = takeLock(directory);
  const isPrivate = slots === undefined;
  // Of a controller that is dead: the worker must not look for that one.
  if (!isPrivate && readAccessFile(accessPath(directory)) !== undefined) rmSync(accessPath(directory), { force: true });
  let worker: LocalWorker | undefined;
  // What a worker still reported would be lost, and what it still ran would run on for nobody.
  const onEnd = (error: unknown): void => {
    worker?.endNow();
    onFatal(error);
  };
  let interrupted: readonly string[] = [];
  const beforeListening = async (shell: Host['shell']): Promise<void> => {
    interrupted = isPrivate ? await leftRunning(shell) : await haltInterrupted(shell);
  };
  try {
    if (!isPrivate) worker = new LocalWorker(directory, slots, onEnd);
    const { startHost } = await import('./host.ts');
    const started = await startHost({ directory, version, onFatal: onEnd, isPrivate, beforeListening }, lock);
    return { ...started, worker, interrupted };
  } catch (error) {
    await worker?.end();
    throw error;
  }
}

/** Joins, or hosts; when another process has the lock and does not answer yet, waits for either to succeed. */
async function joinOrHost(hosting: HostingOptions, options: JoinOptions): Promise<Joined | Hosted> {
  const { directory } = hosting;
  for (const deadline = performance.now() + joinMsMax; ; await pause(joinPollMs)) {
    const joined = await tryJoin(directory, options);
    if (joined !== undefined && 'client' in joined) return joined;
    try {
      return await host(hosting);
    } catch (error) {
      const isLocked = error instanceof DroverError && error.code === 'store-locked';
      if (isLocked && isAccessDamaged(directory)) throw accessDamaged(directory, error);
      // Else what refused it is another one, which has the port of one that is dead.
      if (isLocked && joined !== undefined) throw joined;
      if (!isLocked || performance.now() >= deadline) throw error;
    }
  }
}

export function sessionOpener(version: string, onFatal: (error: unknown) => void): OpenSession {
  return async (options: SessionOptions): Promise<Session> => {
    // What is wrong with it is said now: a join that fails is tried again.
    broughtToken();
    const directory = findDirectory(options.dir);
    const submits = options.submits ?? options.slots !== undefined;
    const attends = options.attends ?? false;
    const joining = { submits, attends, ...(options.patience === undefined ? {} : { patience: options.patience }) };
    // Who was given an access file has no controller of his own to start.
    const access = readAccessFile(accessPath(directory));
    const isElsewhere = access !== undefined && access.pid === undefined;
    if (options.joinsOnly || isElsewhere) return joinedSession(await mustJoin(directory, joining), submits || attends);
    if ((options.slots === undefined || options.goesOn) && !existsSync(directory)) {
      throw new DroverError('workflow-unknown', `nothing has run here yet: there is no ${directory}`, {
        hint: "start something with 'drover run', or name a folder with --dir",
      });
    }
    prepareDirectory(directory);
    const found = await joinOrHost({ directory, version, slots: options.slots, onFatal }, joining);
    return 'client' in found ? joinedSession(found, submits || attends) : hostedSession(found, options);
  };
}

function joinedSession({ client, ...place }: Joined, isAnnounced: boolean): Session {
  // A controller that has ended meanwhile awaits nobody.
  const close = async (): Promise<void> => {
    if (isAnnounced) await client.leave().catch(() => {});
  };
  return { client, ...place, isJoined: true, notes: [], waitForOthers: async () => {}, close };
}

function hostedSession(hosted: Hosted, { slots }: SessionOptions): Session {
  const { shell, attendance, access, close, worker, interrupted } = hosted;
  const endWork = async (): Promise<void> => {
    const { sessions } = shell.controller;
    await settled(shell, fetchMsMax, () => sessions.pulls.left === 0);
    await shell.request({ type: 'dismiss-workers' });
    // A worker hangs up when all that it ran is dead: this host's own, and one that an earlier host had started.
    await settled(shell, dismissMsMax, () => sessions.connected === 0);
    await worker?.end();
  };
  return {
    client: new Client(clientAccess(access.url, access.token, access.certificate)),
    url: access.url,
    isJoined: false,
    notes: [
      ...interrupted.map((id) =>
        slots === undefined
          ? `nobody runs ${id} now; 'drover resume ${id}' or a server continues it`
          : `${id} was interrupted; 'drover resume ${id}' continues it`,
      ),
      ...slotNotes(slots),
    ],
    waitForOthers: (onWait) => waitForOthers(shell, attendance, onWait),
    // A command that only looks has let no worker in: a resume may adopt what those of a host that died still run.
    close: async () => {
      if (worker !== undefined) await endWork();
      await close();
    },
  };
}

function slotNotes(slots: number | undefined): string[] {
  const note = slots === undefined ? undefined : slotsNote(slots);
  return note === undefined ? [] : [note];
}

/** What another host left going on is halted by one that takes over, so that nothing starts unasked. */
async function haltInterrupted(shell: Host['shell']): Promise<string[]> {
  const reply = await shell.request({ type: 'halt-interrupted' });
  return reply.type === 'interrupted' ? reply.workflows.map(printWorkflow) : [];
}

const leftRunning = (shell: Host['shell']): Promise<string[]> =>
  shell.read((cluster) => [...cluster.active].map(printWorkflow));

async function settled(shell: Host['shell'], msMax: number, isSettled: () => boolean): Promise<void> {
  for (const deadline = shell.now() + msMax; !isSettled() && shell.now() < deadline; ) await pause(10);
}

/** Until nobody's work goes on here and nobody is on the way with more; then nobody is let in any more. */
async function waitForOthers(
  shell: Host['shell'],
  attendance: Attendance,
  onWait: (workflows: readonly string[]) => void,
): Promise<void> {
  for (let isTold = false; ; ) {
    const others = await shell.read((cluster) => [...cluster.active].map(printWorkflow));
    if (others.length === 0 && attendance.withdraw(shell.now())) return;
    if (!isTold && others.length > 0) {
      onWait(others);
      isTold = true;
    }
    await shell.changed(shell.now() + 1_000);
  }
}
