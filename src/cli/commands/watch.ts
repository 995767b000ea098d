/** `drover watch`: what happens at a controller, as it happens. It only looks: whatever ends it, all goes on. */
import { exitCodes } from '../../model/errors.ts';
import { isEndedWorkflow, type WorkflowState } from '../../model/states.ts';
import type { EventView } from '../../protocol/views/events.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import type { Client } from '../../sdk/client.ts';
import { ringBell } from '../bell.ts';
import { type CommonOptions, type Context, inFolder, withSession } from '../context.ts';
import { renderEvent } from '../display/event-line.ts';
import type { CliEnv } from '../environment.ts';
import { patienceOf } from '../execution.ts';
import { type Named, named } from '../reference.ts';
import { reporterFor } from '../reporter.ts';

export interface WatchOptions extends CommonOptions {
  readonly where?: string;
  readonly after?: string;
  readonly all?: boolean;
  readonly bell?: boolean;
}

export function watchEvents(context: Context, id: string | undefined, options: WatchOptions): Promise<number> {
  const { env } = context;
  const about: Partial<Named> = id === undefined ? {} : named(id);
  const { workflow, task } = about;
  const where = [scopeOf(about), options.where].filter((part) => part !== undefined).join('&');
  const patience = patienceOf(reporterFor(env, 'quiet'));
  // Until its end a workflow is watched; a run that hosts would wait for one who watches for ever.
  const attends = workflow !== undefined && task === undefined;
  const sessionOptions = { ...inFolder(options.dir), joinsOnly: true, attends, patience };
  return withSession(context, sessionOptions, ({ client }, interrupts) =>
    interrupts.unlessInterrupted(
      (async () => {
        // A filter finds nothing where there is nothing, and would wait for it for ever.
        if (task !== undefined) await client.task(task);
        // A name for `now`, so that nothing is missed before the stream begins.
        const after = options.after ?? (await client.eventPage({ cursor: 'now', limit: 1 })).next;
        const watch = new Watch(env, client, { ...options, where, after });
        if (workflow === undefined || task !== undefined) await watch.endlessly();
        else {
          const end = await watch.untilEnded(workflow);
          if (options.bell && end !== undefined) await ringBell(env, `${end.id} is ${end.state}`);
        }
        return exitCodes.ok;
      })(),
    ),
  );
}

function scopeOf({ workflow, task, attempt }: Partial<Named>): string | undefined {
  if (task === undefined) return workflow && `workflow=${workflow}`;
  return attempt === undefined ? `task=${task}` : `attempt=${task}#${attempt}`;
}

class Watch {
  private readonly env: CliEnv;
  private readonly client: Client;
  private readonly options: WatchOptions;
  private readonly where: string;
  /** The last event that was printed. */
  private cursor: string;

  constructor(env: CliEnv, client: Client, options: WatchOptions & { readonly where: string; readonly after: string }) {
    this.env = env;
    this.client = client;
    this.options = options;
    this.where = options.where;
    this.cursor = options.after;
  }

  /** Until nobody reads, or the signal. */
  async endlessly(signal?: AbortSignal): Promise<void> {
    const { where, cursor: after } = this;
    const events = this.client.events({ after, where, ...(signal === undefined ? {} : { signal }) });
    for await (const event of events) if (!(await this.print(event))) return;
  }

  /** All up to the end of the workflow, also where the filter leaves its end out. */
  async untilEnded(workflow: string): Promise<WorkflowView | undefined> {
    const begin = this.cursor;
    const end = new AbortController();
    let view = await this.client.workflow(workflow);
    if (!isEndedWorkflow(view.state)) {
      const reading = this.endlessly(end.signal);
      const ended = this.endOf(workflow, begin, end.signal);
      const first = await Promise.race([ended, reading]);
      end.abort();
      await Promise.allSettled([reading, ended]);
      if (first === undefined) return undefined;
      view = first;
    }
    await this.pages();
    return view;
  }

  private async endOf(workflow: string, after: string, signal: AbortSignal): Promise<WorkflowView | undefined> {
    const where = `workflow=${workflow}&type=workflow-moved`;
    for await (const { to } of this.client.events({ after, where, signal })) {
      if (!isEndedWorkflow(to as WorkflowState)) continue;
      const view = await this.client.workflow(workflow);
      if (isEndedWorkflow(view.state)) return view;
    }
    return undefined;
  }

  /** What has happened up to now and was not printed. */
  private async pages(): Promise<void> {
    const { next: last } = await this.client.eventPage({ cursor: 'now', limit: 1 });
    for (let { cursor } = this; numberOf(cursor) < numberOf(last); ) {
      const { events, next } = await this.client.eventPage({ cursor, where: this.where });
      for (const event of events) if (event.seq <= numberOf(last) && !(await this.print(event))) return;
      cursor = next;
    }
  }

  /** False once nobody reads. */
  private async print(event: EventView): Promise<boolean> {
    const { env } = this;
    this.cursor = String(event.seq);
    const isColoured = env.stdout.isTerminal && !env.variables.NO_COLOR && env.variables.TERM !== 'dumb';
    const line = this.options.json ? JSON.stringify(event) : renderEvent(event, isColoured, this.options.all ?? false);
    return line === undefined || env.stdout.write(`${line}\n`);
  }
}

/** Of the event that a cursor stands behind. */
const numberOf = (cursor: string): number => Number.parseInt(cursor, 10);
