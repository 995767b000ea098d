/** `drover wait`: follows workflows to their ends. It only looks: whatever ends it, they go on. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import type { Client } from '../../sdk/client.ts';
import { printConclusion, printSummary } from '../conclusion.ts';
import { type Context, inFolder, withSession } from '../context.ts';
import type { Summary } from '../display/summary.ts';
import type { CliEnv } from '../environment.ts';
import { type ExecutionOptions, patienceOf, voiceOf } from '../execution.ts';
import { Interrupted } from '../interrupts.ts';
import { LocalNotifier } from '../notify.ts';
import { workflowNamed } from '../reference.ts';
import { type Reporter, reporterFor, type Voice } from '../reporter.ts';
import { StallWatch } from '../stall.ts';
import { watch } from '../watch.ts';

export async function wait(context: Context, names: readonly string[], options: ExecutionOptions): Promise<number> {
  const { env } = context;
  const ids = [...new Set(names.map(workflowNamed))];
  const voice = voiceOf(options);
  const again = `'drover wait ${ids.join(' ')}' waits again`;
  const reporter = reporterFor(env, voice);
  const patience = patienceOf(reporter);
  const sessionOptions = { ...inFolder(options.dir), joinsOnly: true, attends: true, patience };
  return withSession(context, sessionOptions, async ({ client }, interrupts) => {
    try {
      const views = await interrupts.unlessInterrupted(waitForAll({ env, voice, client, reporter, options }, ids));
      return views.every(({ state }) => state === 'done') ? exitCodes.ok : exitCodes.tasksFailed;
    } catch (error) {
      if (error instanceof Interrupted) {
        const goesOn = ids.length === 1 ? 'goes on' : 'go on';
        await env.stderr.write(`drover: no longer waiting; ${ids.join(', ')} ${goesOn}; ${again}\n`);
      }
      throw withHint(error, `nothing is lost: when the controller is back, ${again}`);
    }
  });
}

interface Watching {
  readonly env: CliEnv;
  readonly voice: Voice;
  readonly client: Client;
  readonly reporter: Reporter;
  readonly options: ExecutionOptions;
}

async function waitForAll(watching: Watching, ids: readonly string[]): Promise<readonly WorkflowView[]> {
  const { env, voice, client } = watching;
  // All of them are there, or none is waited for.
  const views: WorkflowView[] = [];
  for (const id of ids) views.push(await client.workflow(id));
  const [first, ...more] = views;
  if (first !== undefined && more.length === 0) return [await waitForOne(watching, first)];
  return Promise.all(
    views.map(async (view) => {
      const notifier = new LocalNotifier(env, watching.options);
      const stall = new StallWatch(client, (text) => watching.reporter.note(text));
      const end = await watch(client, view, (next) => {
        notifier.look(next);
        stall.look(next);
      });
      await printSummary(env, voice, await summaryOf(client, end));
      await notifier.settled();
      return end;
    }),
  );
}

async function waitForOne(
  { env, voice, client, reporter, options }: Watching,
  first: WorkflowView,
): Promise<WorkflowView> {
  const notifier = new LocalNotifier(env, options);
  const stall = new StallWatch(client, (text) => reporter.note(text));
  let end: WorkflowView;
  try {
    const look = (view: WorkflowView): void => {
      reporter.show(view);
      notifier.look(view);
      stall.look(view);
    };
    end = await watch(client, first, look, reporter.paceMs);
  } finally {
    reporter.end();
  }
  await printConclusion(env, voice, client, await summaryOf(client, end), reporter);
  await notifier.settled();
  return end;
}

async function summaryOf(client: Client, view: WorkflowView): Promise<Summary> {
  const failures = view.counts.failed === 0 ? [] : (await client.failures(view.id)).groups;
  return { view, failures, doneBefore: 0 };
}

function withHint(error: unknown, hint: string): unknown {
  if (!(error instanceof DroverError) || error.code !== 'controller-unreachable') return error;
  return new DroverError(error.code, error.message, { hint, cause: error });
}
