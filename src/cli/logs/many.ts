/** The output of many tasks: one after the other, or all at once as it comes. */
import { DroverError } from '../../model/errors.ts';
import { endedTaskStates, isEndedTask, isEndedWorkflow, type OutputStream, taskStates } from '../../model/states.ts';
import { showBytes } from '../../model/units.ts';
import type { Client } from '../../sdk/client.ts';
import { amount } from '../display/text.ts';
import type { CliEnv, LinePattern } from '../environment.ts';
import { named } from '../reference.ts';
import { LineCutter, shown, withPrefix } from './lines.ts';
import { awayText, lostText } from './one.ts';
import { lookedAt, type Selection } from './selection.ts';
import { beginOfTail } from './tail.ts';

export interface ManyLogs {
  readonly env: CliEnv;
  readonly client: Client;
  readonly streams: readonly OutputStream[];
  readonly tail: number | undefined;
  /** Only lines that match. */
  readonly pattern: LinePattern | undefined;
}

/** Of which attempt of a task. */
interface Source {
  readonly task: string;
  readonly attempt: number;
}

/** Tasks that are followed at the same time, each at the cost of a question every 40 to 160 ms; others wait for these. */
const followedMax = 64;
/** For a piece of output: nobody else waits for this process, but Ctrl-C does. */
const patternMsMax = 1_000;
/** How long they wait before that is remarked on. */
const remarkMs = 3_000;

/** What became of it. */
export class LogResult {
  isMissing = false;
  lines = 0;
}

const prefixes: Readonly<Record<OutputStream, string>> = { stdout: '|', stderr: '!' };

class Printer {
  readonly result = new LogResult();
  protected readonly logs: ManyLogs;
  /** All is told, or nobody reads any more: `| head`. Also ends what waits for tasks that write nothing. */
  protected readonly over = new AbortController();

  constructor(logs: ManyLogs) {
    this.logs = logs;
  }

  protected async print({ task, attempt }: Source, stream: OutputStream, isFollowing: boolean): Promise<void> {
    const pieces = await this.open({ task, attempt }, stream, isFollowing);
    const cutter = new LineCutter();
    for await (const piece of pieces) {
      await this.write(task, stream, cutter.take(piece));
      if (this.over.signal.aborted) return;
    }
    await this.write(task, stream, cutter.end());
  }

  private async open({ task, attempt }: Source, stream: OutputStream, isFollowing: boolean) {
    const { client, tail, env } = this.logs;
    const offset = tail === undefined ? 0 : await beginOfTail(client, { task, stream, attempt }, tail);
    const onMissing = (bytes: number): void => {
      this.result.isMissing = true;
      void env.stderr.write(`drover: ${showBytes(bytes)} of ${task} are missing\n`);
    };
    const onAway = (): void => {
      this.result.isMissing = true;
      void env.stderr.write(awayText(task));
    };
    const onLost = (): void => {
      this.result.isMissing = true;
      if (stream === this.logs.streams[0]) void env.stderr.write(lostText(task));
    };
    const { signal } = this.over;
    return client.output(task, { stream, attempt, offset, follow: isFollowing, onMissing, onAway, onLost, signal });
  }

  private async write(task: string, stream: OutputStream, lines: Iterable<Uint8Array>): Promise<void> {
    const { env, pattern } = this.logs;
    const out: Uint8Array[] = [];
    for (const line of pattern === undefined ? lines : matching(pattern, [...lines])) {
      out.push(withPrefix(`${task} ${prefixes[stream]}`, shown(line, env.stdout)));
      this.result.lines++;
    }
    if (out.length > 0 && !(await env.stdout.write(Buffer.concat(out)))) this.over.abort();
  }
}

function matching(pattern: LinePattern, lines: readonly Uint8Array[]): readonly Uint8Array[] {
  const texts = lines.map((line) => Buffer.from(line).toString());
  const places = pattern.find(texts, 1, patternMsMax);
  return lines.filter((_, at) => (places[at]?.length ?? 0) > 0);
}

/** One after the other, in the order of the selection. */
export class LogList extends Printer {
  async printAll(selection: Selection): Promise<LogResult> {
    for await (const source of this.sources(selection)) {
      for (const stream of this.logs.streams) await this.print(source, stream, false);
      if (this.over.signal.aborted) break;
    }
    return this.result;
  }

  private async *sources({ tasks, filters }: Selection): AsyncGenerator<Source> {
    const { client, env } = this.logs;
    for await (const { task, attempt, attempts } of lookedAt(client, tasks)) {
      const number = attempt ?? attempts;
      if (number > 0) yield { task, attempt: number };
      else {
        this.result.isMissing = true;
        await env.stderr.write(`drover: ${task} has not run yet\n`);
      }
    }
    for (const where of filters) {
      for await (const { id, attempts } of client.eachTask({ where, fields: ['id', 'attempts'], limit: 1_000 })) {
        if (attempts > 0) yield { task: id, attempt: attempts };
      }
    }
  }
}

/** All at once, as it comes: what has begun, and what begins, until nothing of the selection is left to begin. */
export class LogFollower extends Printer {
  private readonly known = new Set<string>();
  private readonly queue: Source[] = [];
  private readonly active = new Set<Promise<void>>();
  private wake: () => void = () => undefined;
  private hasNews = true;
  private remark: ReturnType<typeof setTimeout> | undefined;
  private refusal: DroverError | undefined;
  private isRemarked = false;
  private readonly followedMax: number;

  constructor(logs: ManyLogs, most = followedMax) {
    super(logs);
    this.followedMax = most;
  }

  async follow(selection: Selection): Promise<LogResult> {
    const { client } = this.logs;
    const { next } = await client.eventPage({ cursor: 'now', limit: 1 });
    for await (const { task, attempt, attempts } of lookedAt(client, selection.tasks)) {
      const number = attempt ?? attempts;
      if (number > 0) this.add({ task, attempt: number });
    }
    for (const where of selection.filters) await this.addMatching(where);
    const { signal } = this.over;
    signal.addEventListener('abort', () => this.tell());
    const listening = this.listen(selection, next, signal);
    listening.catch(() => this.tell());
    try {
      while (!signal.aborted && !(await this.isOver(selection))) await Promise.race([this.news(), listening]);
    } finally {
      this.over.abort();
      clearTimeout(this.remark);
      await Promise.allSettled([listening, ...this.active]);
    }
    if (this.refusal !== undefined) throw this.refusal;
    return this.result;
  }

  private async addMatching(where: string): Promise<void> {
    const rows = this.logs.client.eachTask({ where, fields: ['id', 'attempts'], limit: 1_000 });
    for await (const { id, attempts } of rows) {
      if (this.over.signal.aborted) return;
      if (attempts > 0) this.add({ task: id, attempt: attempts });
    }
  }

  private add(source: Source): void {
    const key = `${source.task}#${source.attempt}`;
    if (this.known.has(key)) return;
    this.known.add(key);
    this.queue.push(source);
    this.begin();
  }

  private begin(): void {
    while (this.active.size < this.followedMax && this.queue.length > 0 && !this.over.signal.aborted) {
      const source = this.queue.shift() as Source;
      const following = Promise.all(this.logs.streams.map((stream) => this.print(source, stream, true))).then(
        () => undefined,
      );
      this.active.add(following);
      following
        .catch((error: unknown) => this.onFailure(source, error))
        .finally(() => {
          this.active.delete(following);
          this.begin();
          this.tell();
        });
    }
    this.remarkOnWaiting();
  }

  /** Where none of those that are followed ends, what the others write is not shown: that must not look like silence. */
  private remarkOnWaiting(): void {
    clearTimeout(this.remark);
    if (this.queue.length === 0 || this.isRemarked || this.over.signal.aborted) return;
    this.remark = setTimeout(() => {
      this.isRemarked = true;
      const text = `drover: ${this.followedMax} at a time are followed: the output of ${amount(this.queue.length, 'more task')} comes when others end\n`;
      void this.logs.env.stderr.write(text);
    }, remarkMs);
  }

  private onFailure({ task }: Source, error: unknown): void {
    // What is wrong with the expression is so for all of them.
    if (error instanceof DroverError && error.code === 'pattern-too-slow') {
      this.refusal = error;
      this.over.abort();
      return;
    }
    this.result.isMissing = true;
    void this.logs.env.stderr.write(`drover: ${task}: ${error instanceof Error ? error.message : String(error)}\n`);
  }

  /** Every attempt is recorded before it begins, and every end of a workflow is a reason to look whether all is over. */
  private async listen({ tasks, filters }: Selection, after: string, signal: AbortSignal): Promise<void> {
    const workflows = [...tasks.map(({ task }) => named(task).workflow), ...filters.map(workflowIn)];
    const ofThese = workflows.includes(undefined) ? '' : `&workflow=${[...new Set(workflows)].join(',')}`;
    const where = `type=attempt-recorded,workflow-moved${ofThese}`;
    for await (const { type, task = '', attempt = '' } of this.logs.client.events({ after, where, signal })) {
      const number = named(attempt || 'w1').attempt;
      if (type === 'attempt-recorded' && number !== undefined)
        await this.consider(tasks, filters, { task, attempt: number });
      this.tell();
    }
  }

  private async consider(tasks: Selection['tasks'], filters: Selection['filters'], source: Source): Promise<void> {
    if (tasks.some(({ task, attempt }) => task === source.task && attempt === undefined)) return this.add(source);
    for (const filter of filters) {
      const isPlain = filter === `workflow=${named(source.task).workflow}`;
      if (isPlain) return this.add(source);
      const { tasks: found } = await this.logs.client.tasks({ where: `${filter}&id=${source.task}`, fields: ['id'] });
      if (found.length > 0) return this.add(source);
    }
  }

  private async isOver({ tasks, filters }: Selection): Promise<boolean> {
    if (this.active.size > 0 || this.queue.length > 0) return false;
    this.hasNews = false;
    const { client } = this.logs;
    for await (const { attempt, state } of lookedAt(client, tasks)) {
      if (attempt === undefined && !isEndedTask(state)) return false;
    }
    for (const filter of filters) if (await this.isGoingOn(filter)) return false;
    return this.active.size === 0 && this.queue.length === 0;
  }

  /** Whether a task is left that may still begin: those of a workflow that was halted do not. */
  private async isGoingOn(filter: string): Promise<boolean> {
    const { client } = this.logs;
    const states = taskStates.filter((state) => !(endedTaskStates as readonly string[]).includes(state));
    const where = [filter, `state=${states.join(',')}`].filter(Boolean).join('&');
    const looked = new Set<string>();
    for await (const { id } of client.eachTask({ where, fields: ['id'] })) {
      const { workflow } = named(id);
      if (looked.has(workflow)) continue;
      looked.add(workflow);
      if (!isEndedWorkflow((await client.workflow(workflow)).state)) return true;
    }
    return false;
  }

  private tell(): void {
    this.hasNews = true;
    this.wake();
  }

  private news(): Promise<void> {
    if (this.over.signal.aborted) return Promise.resolve();
    if (this.hasNews && this.active.size === 0 && this.queue.length === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}

/** The only workflow that a filter lets through, if it names one. */
const workflowIn = (filter: string): string | undefined => /(?:^|&)workflow=(w\d+)(?:&|$)/.exec(filter)?.[1];
