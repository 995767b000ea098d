/** What the composition root offers to the commands: ways to reach a controller, to be one, and to be a worker. */
import type { Capacity } from '../model/capacity.ts';
import type { LogLevel } from '../model/limits.ts';
import type { PresetName } from '../model/timeouts.ts';
import type { OpenSession } from './session.ts';

export interface ServeOptions {
  /** The `.drover` folder; made in the working directory when there is none. */
  readonly dir?: string;
  /** `ADDRESS:PORT`, `:PORT` or `ADDRESS`; loopback and a free port by default, TLS off loopback. */
  readonly listen?: string;
  /** A certificate and its key in PEM, instead of the one that is made at the first start off loopback. */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly logLevel?: LogLevel;
  /** How long silence and sickness of workers are borne; `cluster` when absent. */
  readonly preset?: PresetName;
  /** The command that shows that a worker can run commands. */
  readonly healthCheck?: string;
  readonly allowBumpUnhealthyWorker?: boolean;
}

export interface WorkOptions {
  readonly dir?: string;
  /** An access file, where it is not that of the folder. */
  readonly access?: string;
  readonly slots: number;
  /** What is said of its capacity; the rest is as the machine is. */
  readonly capacity: Partial<Omit<Capacity, 'endsAt'>>;
  /** It ends by itself after this time. */
  readonly untilMs?: number;
  /** A name that outlasts failovers: one worker has it at a time. By machine and directory when absent. */
  readonly shard?: string;
  readonly logLevel?: LogLevel;
}

export interface Serving {
  readonly url: string;
  readonly pid: number;
  readonly directory: string;
}

export interface Programs {
  readonly openSession: OpenSession;
  /** A controller in this process, until it is stopped: by `drover server stop`, or by a signal. */
  serve(options: ServeOptions, onReady: (serving: Serving) => void): Promise<number>;
  /** The same in a process of its own; resolves when it answers. */
  serveDetached(options: ServeOptions): Promise<Serving>;
  /** A worker in this process, until it is stopped or its controller tells it to die. */
  work(options: WorkOptions, onReady: (directory: string) => void): Promise<number>;
}
