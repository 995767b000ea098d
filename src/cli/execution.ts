/**
 * A run from its begin to its end, as `run` and `resume` have it: progress, signals, summary, result, exit code.
 *
 * 1. The first Ctrl-C stops launching, the second kills what runs; both leave the workflow resumable, and this waits
 *    until nothing of it is alive. The third gives up waiting.
 * 2. The session is closed on every way out.
 */
import { DroverError, exitCodes } from '../model/errors.ts';
import type { FailureGroup } from '../protocol/views/statistics.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from '../sdk/client.ts';
import { printConclusion } from './conclusion.ts';
import type { CommonOptions, Context } from './context.ts';
import type { Summary } from './display/summary.ts';
import { amount } from './display/text.ts';
import type { CliEnv } from './environment.ts';
import { Interrupted, Interrupts, type Urgency } from './interrupts.ts';
import { LocalNotifier, type NotifyOptions } from './notify.ts';
import { type Reporter, reporterFor, type Voice } from './reporter.ts';
import type { Session, SessionOptions } from './session.ts';
import { StallWatch } from './stall.ts';
import { watch } from './watch.ts';

export interface ExecutionOptions extends CommonOptions, NotifyOptions {
  readonly slots?: number;
  readonly quiet?: boolean;
}

/** The first view of a run, and how many tasks it found done. */
export interface Begun {
  readonly view: WorkflowView;
  readonly doneBefore: number;
}

/** All was said already: there is nothing to run. */
export interface NothingToRun {
  readonly exitCode: number;
}

export type Begin = (session: Session, reporter: Reporter, signal: AbortSignal) => Promise<Begun | NothingToRun>;

export async function execute(
  context: Context,
  options: ExecutionOptions,
  sessionOptions: SessionOptions,
  begin: Begin,
): Promise<number> {
  const { env } = context;
  const interrupts = new Interrupts(env);
  const reporter = reporterFor(env, voiceOf(options));
  try {
    const patience = patienceOf(reporter);
    const opening = context.programs.openSession({ slots: options.slots ?? env.cores, patience, ...sessionOptions });
    const session = await interrupts.unlessForced(opening);
    try {
      return await new Execution(env, options, session, reporter, interrupts).run(options, begin);
    } finally {
      await session.close();
    }
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    reporter.note('drover: interrupted, nothing was started');
    return exitCodes.interrupted;
  } finally {
    interrupts.stop();
  }
}

/** Says that the controller is away, and that it is back. */
export const patienceOf = (reporter: Reporter): NonNullable<SessionOptions['patience']> => ({
  onAway: (why) => reporter.note(`drover: ${why}; waiting for it to come back`),
  onBack: () => reporter.note('drover: the controller is back'),
});

export const voiceOf = ({ json, quiet }: ExecutionOptions): Voice => (json ? 'json' : quiet ? 'quiet' : 'human');

class Execution {
  private readonly env: CliEnv;
  private readonly voice: Voice;
  private readonly notifier: LocalNotifier;
  private readonly session: Session;
  private readonly client: Client;
  private readonly reporter: Reporter;
  private readonly interrupts: Interrupts;

  constructor(env: CliEnv, options: ExecutionOptions, session: Session, reporter: Reporter, interrupts: Interrupts) {
    this.env = env;
    this.voice = voiceOf(options);
    this.notifier = new LocalNotifier(env, options);
    this.session = session;
    this.client = session.client;
    this.reporter = reporter;
    this.interrupts = interrupts;
  }

  async run(options: ExecutionOptions, begin: Begin): Promise<number> {
    const { session, reporter } = this;
    for (const note of session.notes) reporter.note(`drover: ${note}`);
    if (session.isJoined && options.slots !== undefined) {
      reporter.note('drover: --slots has no effect: the controller that runs here already has its workers');
    }
    const begun = await this.begin(begin);
    if ('exitCode' in begun) {
      reporter.end();
      return begun.exitCode;
    }
    const view = await this.follow(begun.view);
    const code = await this.conclude({ ...begun, view });
    await this.notifier.settled();
    if (!this.interrupts.isOrderedToEnd) await this.waitForOthers();
    return code;
  }

  private async begin(begin: Begin): Promise<Begun | NothingToRun> {
    try {
      this.interrupts.signal.throwIfAborted();
      return await begin(this.session, this.reporter, this.interrupts.signal);
    } catch (error) {
      this.reporter.end();
      throw error;
    }
  }

  /** Until the end, or as far as was seen when patience ended. */
  private async follow(first: WorkflowView): Promise<WorkflowView> {
    let latest = first;
    const stop = (urgency: Urgency) => this.stop(latest, urgency);
    this.interrupts.onRise = stop;
    if (this.interrupts.urgency !== 'none') stop(this.interrupts.urgency);
    const stall = new StallWatch(this.client, (text) => this.reporter.note(text));
    const look = (view: WorkflowView): void => {
      latest = view;
      this.reporter.show(view);
      this.notifier.look(view);
      stall.look(view);
    };
    const watching = watch(this.client, first, look, this.reporter.paceMs);
    try {
      await Promise.race([watching, this.interrupts.forced]);
    } catch (error) {
      throw withResumeHint(error, first.id);
    } finally {
      this.interrupts.onRise = () => undefined;
      this.reporter.end();
    }
    return latest;
  }

  private stop({ id, counts }: WorkflowView, urgency: Urgency): void {
    if (urgency !== 'drain' && urgency !== 'kill') return;
    const running = amount(counts.running, 'running task');
    const isIdle = counts.running === 0;
    if (urgency === 'drain')
      this.reporter.note(isIdle ? 'stopping' : `stopping: ${running} may finish; Ctrl-C again kills`);
    else this.reporter.note(isIdle ? 'stopping now' : `stopping now: killing ${running}`);
    this.client.halt(id, urgency).catch((error: unknown) => {
      // It may have ended meanwhile, which is what was wanted.
      const isOver = error instanceof DroverError && error.code === 'transition-not-allowed';
      if (!isOver) this.reporter.note(`drover: could not stop ${id}: ${messageOf(error)}`);
    });
  }

  private async conclude({ view, doneBefore }: Begun): Promise<number> {
    const summary: Summary = { view, doneBefore, failures: await this.failuresOf(view) };
    await printConclusion(this.env, this.voice, this.client, summary, this.reporter);
    return exitCodeOf(view, this.interrupts.urgency);
  }

  private async failuresOf({ id, counts }: WorkflowView): Promise<readonly FailureGroup[]> {
    return counts.failed === 0 || this.interrupts.urgency === 'force' ? [] : (await this.client.failures(id)).groups;
  }

  /** A hosted controller also serves the runs that joined it. */
  private async waitForOthers(): Promise<void> {
    this.interrupts.arm();
    const others = this.session.waitForOthers((workflows) => {
      this.reporter.note(
        `drover: waiting for ${workflows.join(', ')}, started by others here; Ctrl-C stops them too, resumably`,
      );
    });
    await Promise.race([others, this.interrupts.forced]);
  }
}

function exitCodeOf({ state }: WorkflowView, urgency: Urgency): number {
  if (state === 'done') return exitCodes.ok;
  return state === 'halted' || urgency === 'force' ? exitCodes.interrupted : exitCodes.tasksFailed;
}

/** The tasks are in the store, whatever became of the controller. */
function withResumeHint(error: unknown, id: string): unknown {
  if (!(error instanceof DroverError) || error.code !== 'controller-unreachable') return error;
  return new DroverError(error.code, error.message, {
    hint: `nothing is lost: 'drover resume ${id}' goes on with it`,
    cause: error,
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
