/** Changes of any number of tasks: the controller does some with each answer, and is asked again until none is left. */
import type { ConcurrencyView } from '../protocol/views/limits.ts';
import type { BulkResult } from '../protocol/views/tasks.ts';
import { apiPath } from './paths.ts';
import { parseJson, type Transport } from './transport.ts';

export type BulkVerb = 'cancel' | 'retry' | 'hold' | 'release' | 'priority';

export interface BulkOptions {
  /** Which tasks; without it `all` has to be said. */
  readonly where?: string;
  readonly all?: true;
  readonly dryRun?: boolean;
  /** For `priority`. */
  readonly priority?: number;
}

export async function steerTasks(transport: Transport, verb: BulkVerb, options: BulkOptions): Promise<BulkResult> {
  const total: BulkResult = { matched: 0, changed: 0, unchanged: 0, refused: {} };
  for (let cursor: string | undefined; ; ) {
    const { body } = await transport.post(apiPath(`tasks/bulk/${verb}`), { ...options, cursor });
    const part = parseJson(body) as BulkResult;
    total.matched += part.matched;
    total.changed += part.changed;
    total.unchanged += part.unchanged;
    for (const [state, count] of Object.entries(part.refused)) {
      total.refused[state] = (total.refused[state] ?? 0) + count;
    }
    cursor = part.next;
    if (cursor === undefined) return total;
  }
}

/** What is not named stays; null lifts a limit, 0 pauses. Tags are `name=value`. */
export interface ConcurrencyPatch {
  readonly workflow?: number | null;
  readonly templates?: Readonly<Record<string, number | null>>;
  readonly tags?: Readonly<Record<string, number | null>>;
}

export async function setConcurrency(
  transport: Transport,
  workflow: string,
  patch: ConcurrencyPatch,
): Promise<ConcurrencyView> {
  let grouped = 0;
  for (let cursor: string | undefined; ; ) {
    const path = apiPath(`workflows/${workflow}/concurrency`);
    const { body } = await transport.repeat('PATCH', path, { ...patch, cursor });
    const { next, ...view } = parseJson(body) as ConcurrencyView;
    grouped += view.grouped;
    cursor = next;
    if (cursor === undefined) return { ...view, grouped };
  }
}
