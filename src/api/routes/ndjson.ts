/** Submission as a stream of lines: bounded memory on both sides, durable when it is answered. */
import type { Readable } from 'node:stream';
import { Type } from '@fastify/type-provider-typebox';
import { Compile } from 'typebox/compile';
import type { ControllerShell } from '../../controller/shell.ts';
import { assert, DroverError } from '../../model/errors.ts';
import { printWorkflow, type WorkflowId } from '../../model/ids.ts';
import { type TaskBatch, WorkflowSpec } from '../../protocol/spec.ts';
import { WorkflowView } from '../../protocol/views/workflows.ts';
import { type ApiOptions, type App, Reference } from '../app.ts';
import type { Comparer } from '../comparison.ts';
import { ndjsonType } from '../media.ts';
import { workflowView } from '../query/workflows.ts';
import { workflowOf } from '../reference.ts';
import { atLine, Intake, parsed, type Taken } from '../submission/intake.ts';
import { type Line, linesOf } from '../submission/lines.ts';
import { refusalOf } from '../validation.ts';

const Extended = Type.Object({ firstIndex: Type.Integer(), count: Type.Integer(), lines: Type.Integer() });
const streamed =
  'NDJSON: a line is a task or an edge, as in the JSON body. A line that is refused is named by `details.line`; what came before it is durable.';

export function registerNdjsonRoutes(app: App, { shell }: ApiOptions, comparer: Comparer): void {
  app.addContentTypeParser(ndjsonType, (_, payload, done) => done(null, payload));
  const constraints = { media: ndjsonType };
  app.post(
    '/api/v1/workflows/:id/tasks',
    {
      constraints,
      schema: {
        summary: 'Add tasks and edges to a workflow',
        description: `${streamed} The workflow is left as it is: go on from \`details.nextIndex\`, or abort it.`,
        params: Reference,
        consumes: [ndjsonType],
        response: { 200: Extended },
      },
    },
    ({ params, body }) => extendBy(shell, comparer, workflowOf(params.id), linesOf(body as Readable)),
  );
  app.post(
    '/api/v1/workflows',
    {
      constraints,
      schema: {
        summary: 'Register a workflow, or submit a whole one',
        description: `${streamed} The first line is the specification of the workflow, which is closed after the last and aborted when a line is refused.`,
        consumes: [ndjsonType],
        response: { 200: WorkflowView },
      },
    },
    ({ body }) => submitBy(shell, comparer, linesOf(body as Readable)),
  );
}

async function extendBy(
  shell: ControllerShell,
  comparer: Comparer,
  workflow: WorkflowId,
  lines: AsyncIterable<Line>,
): Promise<Taken> {
  const size = await shell.read((cluster) => cluster.workflow(workflow).size);
  const extend = (batch: TaskBatch) => comparer.extend(workflow, batch, (request) => shell.request(request));
  return new Intake(extend, size).take(lines);
}

async function submitBy(
  shell: ControllerShell,
  comparer: Comparer,
  lines: AsyncGenerator<Line, void>,
): Promise<WorkflowView> {
  const first = await lines.next();
  if (first.done === true) {
    throw new DroverError('bad-input', 'there is no line', {
      hint: 'the first one is the specification of the workflow',
    });
  }
  const reply = await shell.request(await comparer.submission(specOf(first.value), undefined));
  assert(reply.type === 'registered', 'what is registered is answered so');
  const { workflow, isKnown } = reply;
  if (isKnown) {
    // Nothing is added to what is there; the sender is heard out, else it would not see the answer.
    for await (const _ of lines);
    return workflowView(shell, workflow);
  }
  try {
    await extendBy(shell, comparer, workflow, lines);
    await shell.request({ type: 'close', workflow });
  } catch (error) {
    await shell.request({ type: 'abort', workflow }).catch(() => undefined);
    throw error instanceof DroverError ? ofWorkflow(error, workflow) : error;
  } finally {
    comparer.forget(workflow);
  }
  return workflowView(shell, workflow);
}

/** Made once, when somebody submits lines. */
let checker: ReturnType<typeof Compile<typeof WorkflowSpec>> | undefined;

function specOf({ number, text }: Line): WorkflowSpec {
  const value = parsed(text, number);
  checker ??= Compile(WorkflowSpec);
  if (checker.Check(value)) return value;
  throw atLine(refusalOf(checker.Errors(value), `line ${number}: specification`), number);
}

const ofWorkflow = ({ code, message, hint, details }: DroverError, workflow: WorkflowId): DroverError =>
  new DroverError(code, message, {
    hint,
    details: { ...details, workflow: printWorkflow(workflow), state: 'aborted' },
  });
