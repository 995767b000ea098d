/** What tasks should ask for, from earlier workflows of the same name. */
import { mergedRequests, type Requests } from '../definition/requests.ts';
import { escapeValue } from '../protocol/filter/language.ts';
import type { Client } from './client.ts';
import { requestsOf, usageOf } from './usage.ts';

/** A few of the newest: what was measured long ago says little. */
const lookedAtMax = 5;

export interface Learned {
  readonly requests: Requests;
  /** The workflows that it was learnt from, the newest first. */
  readonly from: readonly string[];
}

/** What newer ones have counts before what older ones have. */
export async function learn(client: Client, name: string): Promise<Learned> {
  let requests: Requests = {};
  const from: string[] = [];
  const { workflows } = await client.workflows({ where: `name=${escapeValue(name)}`, limit: lookedAtMax });
  for (const { id, counts } of workflows) {
    if (counts.done === 0) continue;
    const found = requestsOf(await usageOf(client, id));
    if (Object.keys(found).length === 0) continue;
    requests = mergedRequests(found, requests);
    from.push(id);
  }
  return { requests, from };
}
