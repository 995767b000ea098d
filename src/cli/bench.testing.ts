/**
 * Commands as a test calls them: in a memory environment, with sessions at a controller that the test has started.
 * Only the session is made here, since src/main, which makes them for the program, is nobody's to import.
 */
import { Client } from '../sdk/client.ts';
import type { Access } from '../sdk/transport.ts';
import { MemoryEnvironment } from './environment.testing.ts';
import { runCli } from './program.ts';
import type { Programs } from './programs.ts';
import type { Session, SessionOptions } from './session.ts';
import { watch } from './watch.ts';

export class CliBench {
  env = new MemoryEnvironment();
  readonly client: Client;
  /** What the commands get besides sessions. */
  programs: Partial<Programs> = {};
  /** The options of each session that was opened, as far as they are values. */
  readonly opened: Omit<SessionOptions, 'patience'>[] = [];
  closed = 0;
  /** Workflows that others started here, as a session finds them when its own run is over. */
  others: readonly string[] = [];

  private readonly url: string;

  constructor(access: Access) {
    this.client = new Client(access);
    this.url = access.url;
  }

  /** Resolves with the exit code. */
  drover(...argv: string[]): Promise<number> {
    const openSession = async (options: SessionOptions) => this.openSession(options);
    return runCli(argv, this.env, { ...noPrograms, openSession, ...this.programs });
  }

  /** Forgets what was printed, and all that was set. */
  renew(): void {
    this.env = new MemoryEnvironment();
  }

  lastJson() {
    return JSON.parse(this.env.stdout.lines.at(-1) ?? '');
  }

  private openSession({ patience: _, ...options }: SessionOptions): Session {
    this.opened.push(options);
    return {
      client: this.client,
      url: this.url,
      isJoined: false,
      notes: [],
      waitForOthers: async (onWait) => {
        if (this.others.length > 0) onWait(this.others);
        for (const id of this.others) await watch(this.client, await this.client.workflow(id), () => undefined);
      },
      close: async () => {
        this.closed += 1;
      },
    };
  }
}

const unavailable = (): never => {
  throw new Error('this test has no such program');
};

/** For tests that reach none of them. */
export const noPrograms: Programs = {
  openSession: unavailable,
  serve: unavailable,
  serveDetached: unavailable,
  work: unavailable,
};
