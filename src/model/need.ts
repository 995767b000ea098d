/** What an attempt of a task needs in order to be placed, with all defaults filled in: docs/decisions/014-resources.md. */

/** How a resource grows when an attempt ran out of it: by a factor, or to the next one of a list of values. */
export type Scale = number | readonly number[];

export interface Need {
  /** Workers that may run it have this queue. */
  readonly queue: string;
  /** Where it goes, one after the other, when it has outgrown the largest worker of its queue. */
  readonly fallbacks?: readonly string[];
  readonly cpus: number;
  readonly memoryBytes?: number;
  readonly gpus?: number;
  readonly runtimeMs?: number;
  /** Of named pools of its worker. */
  readonly pools?: Readonly<Record<string, number>>;
  /** Of named limits that all workers and workflows share. */
  readonly limits?: Readonly<Record<string, number>>;
  /** Groups of its workflow, each of which may have a limit of how many run at a time: `template:NAME`, `tag:NAME=VALUE`. */
  readonly groups?: readonly string[];
  readonly scales?: { readonly memory?: Scale; readonly runtime?: Scale };
}

export const defaultQueue = 'default';

/** Of a task that asks for nothing: one slot of any worker. */
export const plainNeed: Need = { queue: defaultQueue, cpus: 1 };

/** The resources of which an attempt can run out. */
export const exhaustibles = ['memory', 'runtime'] as const;
export type Exhaustible = (typeof exhaustibles)[number];

/** A factor for whoever names none. */
export const scaleDefault = 1.5;
