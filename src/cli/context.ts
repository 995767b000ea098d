/** What every command is given, and how the short ones use a controller. */
import { exitCodes } from '../model/errors.ts';
import type { Client } from '../sdk/client.ts';
import type { CliEnv } from './environment.ts';
import { Interrupted, Interrupts } from './interrupts.ts';
import type { Programs } from './programs.ts';
import type { Session, SessionOptions } from './session.ts';

export interface Context {
  readonly env: CliEnv;
  /** Loads what it takes to reach or host a controller; commands that need none don't pay for it. */
  readonly programs: Programs;
}

/** Options that several commands share. */
export interface CommonOptions {
  readonly dir?: string;
  readonly json?: boolean;
}

/** For a command that runs no task: any signal ends it. Resolves with the exit code. */
export function withClient(
  context: Context,
  { dir }: CommonOptions,
  body: (client: Client) => Promise<number>,
): Promise<number> {
  return withSession(context, inFolder(dir), ({ client }, interrupts) => interrupts.unlessInterrupted(body(client)));
}

/** The same at a controller that is live already: such a command never hosts one. */
export function withLiveClient(
  context: Context,
  { dir }: CommonOptions,
  body: (client: Client, url: string) => Promise<number>,
): Promise<number> {
  return withSession(context, { ...inFolder(dir), joinsOnly: true }, ({ client, url }, interrupts) =>
    interrupts.unlessInterrupted(body(client, url)),
  );
}

/** `body` decides what signals do to it; `Interrupted` ends the command with the exit code for that. */
export async function withSession(
  { env, programs }: Context,
  options: SessionOptions,
  body: (session: Session, interrupts: Interrupts) => Promise<number>,
): Promise<number> {
  const interrupts = new Interrupts(env);
  try {
    const session = await interrupts.unlessInterrupted(programs.openSession(options));
    try {
      for (const note of session.notes) await env.stderr.write(`drover: ${note}\n`);
      return await body(session, interrupts);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (error instanceof Interrupted) return exitCodes.interrupted;
    throw error;
  } finally {
    interrupts.stop();
  }
}

export const inFolder = (dir: string | undefined): SessionOptions => (dir === undefined ? {} : { dir });

export async function printJson(env: CliEnv, value: unknown): Promise<void> {
  await env.stdout.write(`${JSON.stringify(value)}\n`);
}
