/** `drover workers` */
import { exitCodes } from '../../model/errors.ts';
import { pageRowsMax } from '../../model/limits.ts';
import { showBytes, showCount, showDuration } from '../../model/units.ts';
import type { WorkerView } from '../../protocol/views/workers.ts';
import { type CommonOptions, type Context, printJson, withLiveClient } from '../context.ts';
import { renderTable } from '../display/table.ts';

export interface WorkersOptions extends CommonOptions {
  readonly all?: boolean;
  readonly where?: string;
}

export function workers(context: Context, options: WorkersOptions): Promise<number> {
  const { stdout, stderr } = context.env;
  return withLiveClient(context, options, async (client) => {
    const { all = false, where } = options;
    const page = { all, limit: pageRowsMax, ...(where === undefined ? {} : { where }) };
    const list = await Array.fromAsync(client.eachWorker(page));
    if (options.json) for (const view of list) await printJson(context.env, view);
    else if (list.length === 0) await stderr.write("drover: no worker here; start one with 'drover worker'\n");
    else await stdout.write(renderWorkers(list, stdout.isTerminal ? stdout.columns : undefined));
    return exitCodes.ok;
  });
}

function renderWorkers(list: readonly WorkerView[], maxColumns?: number): string {
  return renderTable(
    [
      { title: 'ID' },
      { title: 'KIND' },
      { title: 'STATE' },
      { title: 'QUEUE' },
      { title: 'SLOTS', align: 'right' },
      { title: 'MEMORY', align: 'right' },
      { title: 'GPUS', align: 'right' },
      { title: 'ATTEMPTS', align: 'right' },
      { title: 'HEARD', align: 'right' },
      { title: 'HOST' },
      { title: 'REASON' },
    ],
    list.map(({ id, kind, state, bar, queue, slots, memoryBytes, gpus, attempts, heardAgoMs, host, reason = '' }) => [
      id,
      kind,
      bar === undefined || state === 'gone' ? state : `${state}, ${bar}`,
      queue,
      showCount(slots),
      memoryBytes === undefined ? '' : showBytes(memoryBytes),
      gpus === undefined ? '' : showCount(gpus),
      showCount(attempts),
      heardAgoMs === undefined ? '' : `${showDuration(heardAgoMs)} ago`,
      host,
      reason,
    ]),
    maxColumns,
  );
}
