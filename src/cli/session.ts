/** How a command reaches a controller. The composition root provides it: it joins a live one, or hosts one itself. */
import type { Client } from '../sdk/client.ts';

export interface SessionOptions {
  /** The `.drover` folder; found upward from the working directory when absent. */
  readonly dir?: string;
  /** The command runs tasks: a hosted controller gets one worker with so many slots, and a missing folder is made. */
  readonly slots?: number;
  /** Never hosts: without a live controller there is no session. */
  readonly joinsOnly?: boolean;
  /** For what has run here before: where nothing has, no folder is made. */
  readonly goesOn?: boolean;
  /** A submission will follow, so a host that is about to end waits for it; true by itself where there are slots. */
  readonly submits?: boolean;
  /** A host that is about to end lets it come to its own end first; of use only where the command will have one. */
  readonly attends?: boolean;
  /** The command outlasts a controller that it has joined, and tells of its absence. */
  readonly patience?: { onAway(why: string): void; onBack(): void };
}

export interface Session {
  readonly client: Client;
  /** Where the controller is. */
  readonly url: string;
  /** Where else it is, and the certificate that it shows off loopback; of one that another process hosts. */
  readonly otherUrls?: readonly string[];
  readonly certificate?: string;
  /** Whether another process hosts the controller. */
  readonly isJoined: boolean;
  /** What the user should know: for example that an interrupted workflow was found. */
  readonly notes: readonly string[];
  /** Waits until runs of others, that joined this host, have ended. */
  waitForOthers(onWait: (workflows: readonly string[]) => void): Promise<void>;
  /** Ends the worker and all that it runs, then the controller, if they are this process's own. */
  close(): Promise<void>;
}

export type OpenSession = (options: SessionOptions) => Promise<Session>;
