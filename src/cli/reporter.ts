/** What a run tells while it goes: how, depends on who is there to read it. */

import { showCount } from '../model/units.ts';
import type { WorkflowView } from '../protocol/views/workflows.ts';
import { Pace } from './display/pace.ts';
import { endedOf, type Progress, progressObject, renderLine, renderPlain } from './display/progress.ts';
import { amount } from './display/text.ts';
import type { CliEnv } from './environment.ts';

export type Voice = 'human' | 'json' | 'quiet';

export interface Reporter {
  /** How often it can show something new; by default, so seldom that nobody is kept from work. */
  readonly paceMs?: number;
  /** Tasks are being registered: so many so far. */
  registering(tasks: number): void;
  show(view: WorkflowView): void;
  /** A line on stderr, for people. */
  note(text: string): void;
  /** Leaves the place where progress was shown to what comes next. */
  end(): void;
}

export function reporterFor(env: CliEnv, voice: Voice): Reporter {
  if (voice === 'quiet') return new QuietReporter(env);
  if (voice === 'json') return new JsonReporter(env);
  return env.stderr.isTerminal && env.variables.TERM !== 'dumb' ? new LiveReporter(env) : new PlainReporter(env);
}

export function isColoured({ stderr, variables }: CliEnv): boolean {
  return stderr.isTerminal && !variables.NO_COLOR && variables.TERM !== 'dumb';
}

export function isUnicode({ variables }: CliEnv): boolean {
  return /utf-?8/i.test(variables.LC_ALL || variables.LC_CTYPE || variables.LANG || '');
}

/** Follows the pace of one run. */
class Tracker {
  private pace: Pace | undefined;

  progress(view: WorkflowView, nowMs: number): Progress {
    const ended = endedOf(view.counts);
    this.pace ??= new Pace(nowMs - view.durationMs, view.run > 1 ? ended : 0);
    this.pace.add(nowMs, ended);
    const left = view.counts.total - ended;
    return {
      view,
      perSecond: this.pace.perSecond(),
      remainingMs: left === 0 ? undefined : this.pace.remainingMs(left),
    };
  }
}

/** That nobody can read notes any more must not stop the tasks. */
function say(env: CliEnv, text: string): Promise<unknown> {
  return env.stderr.write(text).catch(() => undefined);
}

class QuietReporter implements Reporter {
  private readonly env: CliEnv;

  constructor(env: CliEnv) {
    this.env = env;
  }

  registering(_tasks: number): void {}
  show(_view: WorkflowView): void {}
  end(): void {}

  note(text: string): void {
    void say(this.env, `${text}\n`);
  }
}

const framePauseMs = 100;
/** Eight a second look like a movement. */
const livePaceMs = 125;

/**
 * One line, redrawn in place. The cursor is never hidden, so there is nothing to restore, not even after kill -9.
 * A frame is dropped while the one before it is still being written.
 */
class LiveReporter implements Reporter {
  readonly paceMs = livePaceMs;
  private readonly env: CliEnv;
  private readonly tracker = new Tracker();
  private line = '';
  private isBusy = false;
  private drawnAtMs = Number.NEGATIVE_INFINITY;

  constructor(env: CliEnv) {
    this.env = env;
  }

  registering(tasks: number): void {
    this.draw(`registering: ${amount(tasks, 'task')}`);
  }

  show(view: WorkflowView): void {
    const { columns } = this.env.stderr;
    const progress = this.tracker.progress(view, performance.now());
    this.draw(renderLine(progress, { columns, isColoured: isColoured(this.env), isUnicode: isUnicode(this.env) }));
  }

  note(text: string): void {
    void say(this.env, `\r\u001b[K${text}\n${this.line}`);
  }

  end(): void {
    this.line = '';
    void say(this.env, '\r\u001b[K');
  }

  private draw(line: string): void {
    const nowMs = performance.now();
    if (this.isBusy || line === this.line || nowMs - this.drawnAtMs < framePauseMs) return;
    this.line = line;
    this.drawnAtMs = nowMs;
    this.isBusy = true;
    void say(this.env, `\r${line}\u001b[K`).then(() => {
      this.isBusy = false;
    });
  }
}

const plainPauseMs = 10_000;

class PlainReporter extends QuietReporter {
  private readonly tracker = new Tracker();
  private shownAtMs: number | undefined;
  private shownEnded = 0;

  override show(view: WorkflowView): void {
    const nowMs = performance.now();
    const progress = this.tracker.progress(view, nowMs);
    const ended = endedOf(view.counts);
    if (this.shownAtMs !== undefined && (nowMs - this.shownAtMs < plainPauseMs || ended === this.shownEnded)) return;
    this.note(this.shownAtMs === undefined ? startOf(view) : renderPlain(progress));
    this.shownAtMs = nowMs;
    this.shownEnded = ended;
  }
}

function startOf({ id, counts }: WorkflowView): string {
  const todo = counts.total - endedOf(counts);
  return todo === counts.total
    ? `${id}: ${amount(todo, 'task')}`
    : `${id}: ${showCount(todo)} of ${amount(counts.total, 'task')} to run`;
}

const jsonPauseMs = 1_000;

class JsonReporter extends QuietReporter {
  private readonly stdout: CliEnv['stdout'];
  private readonly tracker = new Tracker();
  private shownAtMs = Number.NEGATIVE_INFINITY;
  private isBusy = false;

  constructor(env: CliEnv) {
    super(env);
    this.stdout = env.stdout;
  }

  override show(view: WorkflowView): void {
    const nowMs = performance.now();
    const progress = this.tracker.progress(view, nowMs);
    if (this.isBusy || nowMs - this.shownAtMs < jsonPauseMs) return;
    this.shownAtMs = nowMs;
    this.isBusy = true;
    void this.stdout
      .write(`${JSON.stringify(progressObject(progress))}\n`)
      .finally(() => {
        this.isBusy = false;
      })
      .catch(() => undefined);
  }
}
