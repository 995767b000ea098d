/** `drover schema`: the JSON Schema of definitions, for editors. */
import schema from '../../../schema/workflow.schema.json' with { type: 'json' };
import { exitCodes } from '../../model/errors.ts';
import type { Context } from '../context.ts';

export async function printSchema({ env }: Context): Promise<number> {
  await env.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return exitCodes.ok;
}
