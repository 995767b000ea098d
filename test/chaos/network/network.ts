/** The ways from workers to their server, each of which can be disturbed by itself. */

/**
 * `partition`: nothing gets through, and nobody is told. `to worker cut`, `from worker cut`: the same, one way.
 * `reset`: links break, new ones may be made. `refused`: nor may they. `slow`: all is late.
 * `half-open at server`, `half-open at worker`: one end lost its links, and the other is not told.
 */
export const networkFaults = [
  'partition',
  'to worker cut',
  'from worker cut',
  'reset',
  'refused',
  'slow',
  'half-open at server',
  'half-open at worker',
] as const;
export type NetworkFault = (typeof networkFaults)[number];

export interface Path {
  /** What has to run the worker. */
  readonly via: readonly string[];
  /** The faults that this kind of path can have. */
  readonly faults: readonly NetworkFault[];
  /** Returns the address under which the worker reaches the server that is now at `serverUrl`. */
  open(serverUrl: () => string | undefined): string;
  /** One at a time. */
  begin(fault: NetworkFault): void;
  heal(): void;
  /** How long it may take after a fault of that length until something gets through. */
  recoveryMs(ms: number): number;
}

export const networkKinds = ['namespaces', 'proxy'] as const;

export interface Network {
  readonly kind: (typeof networkKinds)[number];
  /** Where the server has to listen; on loopback when absent. */
  readonly listen?: string;
  readonly paths: readonly Path[];
  close(): void;
}
