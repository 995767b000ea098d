/** What requests and their answers are made of, beyond the views and specifications of the protocol. */
import type { Surroundings } from '../definition/compile.ts';
import type { Comparison } from '../protocol/views/submissions.ts';

export interface DefinitionRequest {
  readonly definition: unknown;
  /** Arguments of the workflow, before those of the definition. */
  readonly args?: Readonly<Record<string, string>>;
  /** What the definition does not say of where and how tasks run. */
  readonly surroundings?: Partial<Surroundings>;
  /** It is a new one, whatever there is. */
  readonly replaces?: boolean;
}

export interface Extended {
  readonly firstIndex: number;
  readonly count: number;
  /** Where the workflow is like an earlier one. */
  readonly comparison?: Comparison;
  readonly warnings?: readonly string[];
}

export interface WorkflowWait {
  readonly after?: number;
  readonly waitMs?: number;
  /** News that is not the end may come so much later: together with what happens until then. */
  readonly paceMs?: number;
}

export interface StatisticsOptions {
  /** A filter on tasks. */
  readonly where?: string;
  /** `template`, `worker`, `host`, `tag:NAME`, or `tag` for all tags. */
  readonly by?: string;
  readonly interval?: 'second' | 'minute' | 'hour';
  /** How long to wait while what ended before a restart is being read; without it the answer may be partial. */
  readonly waitMs?: number;
}
