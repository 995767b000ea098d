/** `drover stats` */
import { exitCodes } from '../../model/errors.ts';
import { statisticsLimits } from '../../model/limits.ts';
import type { StatisticsOptions } from '../../sdk/requests.ts';
import { type CommonOptions, type Context, printJson, withClient } from '../context.ts';
import { renderStatistics } from '../display/statistics.ts';
import { workflowNamed } from '../reference.ts';
import { isUnicode } from '../reporter.ts';

export interface StatsOptions extends CommonOptions, Pick<StatisticsOptions, 'by' | 'where' | 'interval'> {}

/** Without a server the controller has just been started: what ended before is read first, as far as it takes so long. */
const waitMs = statisticsLimits.waitMsMax;

export function stats(context: Context, name: string | undefined, options: StatsOptions): Promise<number> {
  const { env } = context;
  const { by, where, interval, json } = options;
  const workflow = name === undefined ? undefined : workflowNamed(name);
  return withClient(context, options, async (client) => {
    const query: StatisticsOptions = {
      waitMs,
      ...(by === undefined ? {} : { by }),
      ...(where === undefined ? {} : { where }),
      ...(interval === undefined ? {} : { interval }),
    };
    const view = await (workflow === undefined ? client.statistics(query) : client.statisticsOf(workflow, query));
    if (json) await printJson(env, view);
    else {
      const { isTerminal, columns } = env.stdout;
      const terminal = { columns: isTerminal ? columns : undefined, isUnicode: isTerminal && isUnicode(env) };
      await env.stdout.write(renderStatistics(view, { ...terminal, by }));
    }
    return exitCodes.ok;
  });
}
