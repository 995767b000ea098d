/** Workflows by their definition: the document of YAML files and of the SDK, compiled here. */
import { Type } from '@fastify/type-provider-typebox';
import { Compile } from 'typebox/compile';
import { Definition } from '../../definition/schema.ts';
import { Arguments, WorkflowSpec } from '../../protocol/spec.ts';
import { Difference, Submitted } from '../../protocol/views/submissions.ts';
import { type App, Reference } from '../app.ts';
import type { DefinitionRequest, Definitions } from '../definitions.ts';
import { workflowOf } from '../reference.ts';
import { refusalOf } from '../validation.ts';

const { cwd, shell, env, outputDir, stdin, like } = WorkflowSpec.properties;
const surrounding = { cwd, shell, env, outputDir, stdin, like };
const around = {
  args: Type.Optional(Arguments),
  surroundings: Type.Optional(Type.Partial(Type.Object(surrounding, { additionalProperties: false }))),
  replaces: Type.Optional(Type.Boolean()),
};
const Body = Type.Object({ definition: Definition, ...around }, { additionalProperties: false });
/** The definition itself is checked by its compiler, which tells all that is wrong, not only the first of it. */
const Outer = Type.Object({ definition: Type.Unknown(), ...around }, { additionalProperties: false });

const example = {
  definition: {
    ...{ name: 'variants', args: { ref: 'hg38' }, cwd: '/data' },
    templates: { align: { command: 'bwa mem {ref}.fa {sample}.fq > {sample}.sam', resources: { memory: '4GB' } } },
    tasks: [
      { template: 'align', args: { sample: ['a', 'b', 'c'] } },
      { name: 'report', command: 'multiqc .', after: 'align' },
    ],
  },
};

/** Compiled when the first definition comes. */
const outerOnly = () => {
  let checker: ReturnType<typeof Compile<typeof Outer>> | undefined;
  return (value: unknown) => {
    checker ??= Compile(Outer);
    return checker.Check(value) ? { value } : { error: refusalOf(checker.Errors(value), 'body') };
  };
};

export function registerDefinitionRoutes(app: App, definitions: Definitions): void {
  app.post(
    '/api/v1/definitions',
    {
      schema: {
        summary: 'Submit a workflow by its definition',
        description:
          'Registered as a whole, or not at all. What has the same name and arguments as a workflow that is there, and the same tasks, is that one: it is attached to, or resumed; `replaces` makes a new one. All that is wrong is in `details.issues`.',
        body: Body,
        bodyExample: example,
        response: { 200: Submitted },
      },
      validatorCompiler: outerOnly,
    },
    ({ body }) => definitions.submit(body as DefinitionRequest),
  );
  const Answer = Type.Object({ difference: Type.Optional(Difference) });
  app.post(
    '/api/v1/workflows/:id/difference',
    {
      schema: {
        summary: 'Tell what a definition and a workflow differ in',
        params: Reference,
        body: Body,
        bodyExample: example,
        response: { 200: Answer },
      },
      validatorCompiler: ({ httpPart }) => (httpPart === 'body' ? outerOnly() : (value: unknown) => ({ value })),
    },
    async ({ params, body }) => {
      const difference = await definitions.difference(workflowOf(params.id), body as DefinitionRequest);
      return difference === undefined ? {} : { difference };
    },
  );
}
