/**
 * Adds the tasks and edges of a stream of lines to a workflow, batch by batch.
 *
 * Owns the batch that is being filled, and the edges whose children are yet to come; not the stream, which is read only
 * as fast as batches become durable.
 * 1. Memory is bounded by one batch, and by `submitEdgesMax` edges that wait.
 * 2. What comes before a line that is refused is durable when the refusal is answered.
 * 3. A batch is never cut between a task and the edges right behind it.
 */
import { Compile } from 'typebox/compile';
import type { Reply } from '../../controller/messages.ts';
import { assert, DroverError } from '../../model/errors.ts';
import { commandBytesMax, ndjsonBatchCharactersMax, submitEdgesMax, submitTasksMax } from '../../model/limits.ts';
import { EdgeSpec, type TaskBatch, TaskSpec } from '../../protocol/spec.ts';
import { refusalOf } from '../validation.ts';
import type { Line } from './lines.ts';

const edgesMax = submitEdgesMax;

interface WaitingEdge {
  readonly line: number;
  readonly edge: EdgeSpec;
}

/** Resolves when the batch is durable. */
type Extend = (batch: TaskBatch) => Promise<Reply>;

export interface Taken {
  readonly firstIndex: number;
  readonly count: number;
  readonly lines: number;
}

/** The checkers are made once, when somebody submits lines: that takes longer than a short run has. */
const checkers = { task: undefined, edge: undefined } as {
  task: ReturnType<typeof Compile<typeof TaskSpec>> | undefined;
  edge: ReturnType<typeof Compile<typeof EdgeSpec>> | undefined;
};

export class Intake {
  readonly #extend: Extend;
  readonly #firstIndex: number;
  #tasks: TaskSpec[] = [];
  #characters = 0;
  #edges: WaitingEdge[] = [];
  /** The index of the last task of the stream so far, and of the last one that is durable. */
  #lastIndex: number;
  #durableTo: number;
  #lines = 0;

  constructor(extend: Extend, size: number) {
    this.#extend = extend;
    this.#firstIndex = size + 1;
    this.#lastIndex = size;
    this.#durableTo = size;
  }

  /** Takes all of them; or, in the end, refuses one, when all before it are durable. */
  async take(lines: AsyncIterable<Line>): Promise<Taken> {
    try {
      for await (const line of lines) await this.#takeLine(line);
      await this.#flush();
      this.#refuseUnmet();
    } catch (error) {
      await this.#flush().catch(() => undefined);
      throw error instanceof DroverError ? this.#withProgress(error) : error;
    }
    return { firstIndex: this.#firstIndex, count: this.#durableTo - this.#firstIndex + 1, lines: this.#lines };
  }

  async #takeLine({ number, text }: Line): Promise<void> {
    const value = parsed(text, number);
    if (isEdge(value)) this.#addEdge(value, number);
    else await this.#addTask(value, number);
    this.#lines = number;
  }

  async #addTask(value: unknown, line: number): Promise<void> {
    const { command = '' } = checkedTask(value, line);
    if (Buffer.byteLength(command) > commandBytesMax) {
      throw refused('too-large', line, `its command has more than ${commandBytesMax} bytes`);
    }
    if (this.#tasks.length >= submitTasksMax || this.#characters >= ndjsonBatchCharactersMax) await this.#flush();
    this.#tasks.push(value as TaskSpec);
    this.#characters += command.length;
    this.#lastIndex++;
  }

  #addEdge(value: unknown, line: number): void {
    const edge = checkedEdge(value, line);
    const [parents, children] = [edge.parents, edge.children];
    const isOrdered = parents[0] <= parents[1] && parents[1] < children[0] && children[0] <= children[1];
    if (!isOrdered || (parents[0] !== parents[1] && children[0] !== children[1])) {
      throw refused('bad-input', line, 'parents come before children, and one side is a single task');
    }
    if (children[0] < Math.max(this.#lastIndex, this.#firstIndex)) {
      const what = `task ${children[0]} is behind: an edge comes before its first child, or directly after it`;
      throw refused('bad-input', line, what);
    }
    if (this.#edges.length >= edgesMax)
      throw refused('too-large', line, `more than ${edgesMax} edges wait for their children`);
    this.#edges.push({ line, edge });
  }

  async #flush(): Promise<void> {
    if (this.#tasks.length === 0) return;
    const tasks = this.#tasks;
    const last = this.#lastIndex;
    const edges = this.#edges.flatMap(({ edge }) => upTo(edge, last) ?? []);
    this.#edges = this.#edges.flatMap(({ line, edge }) => beyond(line, edge, last) ?? []);
    [this.#tasks, this.#characters] = [[], 0];
    const reply = await this.#extend({ tasks, edges });
    assert(reply.type === 'extended', 'what is extended is answered so');
    this.#durableTo = last;
  }

  #refuseUnmet(): void {
    const [waiting] = this.#edges;
    if (waiting === undefined) return;
    const { line, edge } = waiting;
    throw refused('bad-input', line, `task ${edge.children[1]} never came; the last one is ${this.#lastIndex}`);
  }

  /** From where a client can go on. */
  #withProgress(error: DroverError): DroverError {
    const { code, message, hint, details } = error;
    const progress = { tasks: this.#durableTo - this.#firstIndex + 1, nextIndex: this.#durableTo + 1 };
    return new DroverError(code, message, { hint, details: { ...details, ...progress }, cause: error });
  }
}

const refused = (code: 'bad-input' | 'too-large', line: number, what: string): DroverError =>
  new DroverError(code, `line ${line}: ${what}`, { details: { line } });

/** Edges to children up to that index; the part beyond it waits. */
function upTo({ parents, children, after }: EdgeSpec, last: number): EdgeSpec | undefined {
  return children[0] > last ? undefined : { parents, children: [children[0], Math.min(children[1], last)], after };
}

function beyond(line: number, { parents, children, after }: EdgeSpec, last: number): WaitingEdge | undefined {
  if (children[1] <= last) return undefined;
  return { line, edge: { parents, children: [Math.max(children[0], last + 1), children[1]], after } };
}

export function parsed(text: string, line: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw refused('bad-input', line, error instanceof Error ? error.message : 'it is not JSON');
  }
}

const isEdge = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ('parents' in value || 'children' in value);

function checkedTask(value: unknown, line: number): TaskSpec {
  checkers.task ??= Compile(TaskSpec);
  if (checkers.task.Check(value)) return value;
  throw atLine(refusalOf(checkers.task.Errors(value), `line ${line}: task`), line);
}

function checkedEdge(value: unknown, line: number): EdgeSpec {
  checkers.edge ??= Compile(EdgeSpec);
  if (checkers.edge.Check(value)) return value;
  throw atLine(refusalOf(checkers.edge.Errors(value), `line ${line}: edge`), line);
}

export const atLine = ({ code, message, hint, details }: DroverError, line: number): DroverError =>
  new DroverError(code, message, { hint, details: { ...details, line } });
