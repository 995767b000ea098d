/** `drover worker drain|stop|release|slots`: what an operator does with workers that run. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import { slotsMax } from '../../model/limits.ts';
import type { WorkerView } from '../../protocol/views/workers.ts';
import type { Client } from '../../sdk/client.ts';
import { type CommonOptions, type Context, printJson, withLiveClient } from '../context.ts';
import type { WorkerAction } from '../options.ts';

export interface AdministrationOptions extends CommonOptions {
  readonly now?: boolean;
}

const said: Readonly<Record<WorkerAction, string>> = {
  drain: 'gets no more tasks; what runs there goes on',
  stop: 'ends when it has ended what it runs',
  release: 'gets tasks again',
  slots: 'is told its new number of slots',
};

export function administerWorkers(
  context: Context,
  action: WorkerAction,
  words: readonly string[],
  options: AdministrationOptions,
): Promise<number> {
  const { env } = context;
  if (options.now && action !== 'stop') throw new DroverError('bad-input', `--now is for stop, not for ${action}`);
  const slots = action === 'slots' ? slotsOf(words.at(-1)) : 0;
  const workers = action === 'slots' ? words.slice(0, -1) : words;
  const [first] = workers;
  if (first === undefined) {
    throw new DroverError('bad-input', `drover worker ${action}: which worker?`, {
      hint: "name it as 'drover workers' does, for example k1",
    });
  }
  return withLiveClient(context, options, async (client) => {
    for (const worker of workers) {
      const view = await perform(client, action, worker, { slots, isNow: options.now ?? false });
      const what = options.now ? 'ends now; what ran there is tried again' : said[action];
      if (options.json) await printJson(env, view);
      else await env.stdout.write(`${worker} ${what}\n`);
    }
    return exitCodes.ok;
  });
}

function perform(
  client: Client,
  action: WorkerAction,
  worker: string,
  { slots, isNow }: { readonly slots: number; readonly isNow: boolean },
): Promise<WorkerView> {
  switch (action) {
    case 'drain':
      return client.drainWorker(worker);
    case 'release':
      return client.releaseWorker(worker);
    case 'stop':
      return client.stopWorker(worker, isNow);
    case 'slots':
      return client.resizeWorker(worker, slots);
  }
}

function slotsOf(word: string | undefined): number {
  const slots = Number(word);
  if (/^\d+$/.test(word ?? '') && slots >= 1 && slots <= slotsMax) return slots;
  throw new DroverError('bad-input', `the number of slots is 1 to ${slotsMax}`, {
    hint: "for example 'drover worker slots k1 8'",
  });
}
