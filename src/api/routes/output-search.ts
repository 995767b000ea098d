/** Which lines of the output of which tasks match an expression, as a stream of lines. */
import { Readable } from 'node:stream';
import { Type } from '@fastify/type-provider-typebox';
import { DroverError } from '../../model/errors.ts';
import { searchLimits } from '../../model/limits.ts';
import { outputStreams } from '../../model/states.ts';
import { taskFields } from '../../protocol/filter/fields.ts';
import { oneOf } from '../../protocol/schema.ts';
import type { ApiOptions, App } from '../app.ts';
import { asDroverError, bodyOf } from '../errors.ts';
import { ndjsonType } from '../media.ts';
import { type Search, searchOutput, Turns } from '../output-search.ts';
import { filterOf } from '../query/list-query.ts';

const SearchQuery = Type.Object({
  pattern: Type.String({
    minLength: 1,
    maxLength: searchLimits.patternCharactersMax,
    description: 'a regular expression, as in JavaScript',
  }),
  ignoreCase: Type.Optional(Type.Boolean()),
  stream: Type.Optional(oneOf([...outputStreams, 'both'])),
  context: Type.Optional(
    Type.Integer({ minimum: 0, maximum: searchLimits.contextMax, description: 'lines around each that matches' }),
  ),
  attempt: Type.Optional(Type.Integer({ minimum: 1, description: 'of each task (default: its last)' })),
  where: Type.Optional(Type.String({ description: 'a filter on tasks, percent-encoded as a whole' })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next` of the search before: go on from there' })),
});
const own = Object.keys(SearchQuery.properties);

export function registerOutputSearch(app: App, { shell, compilePattern }: ApiOptions): void {
  let searches = 0;
  const turns = new Turns(searchLimits.turnsMax);
  app.get(
    '/api/v1/output/search',
    {
      config: { filters: 'tasks' },
      schema: {
        summary: 'Search the output of tasks',
        description:
          'Lines of JSON: each is a line of output that matches, or stands near one; the last says how much was looked at, and with `next` that there is more.',
        querystring: SearchQuery,
        produces: ndjsonType,
      },
    },
    async ({ url, query }, reply) => {
      const { pattern, ignoreCase = false, stream = 'stdout', context = 0, attempt, cursor } = query;
      const search: Search = {
        turns,
        filter: filterOf(url, own, taskFields, shell.now()),
        pattern: compilePattern(pattern, ignoreCase),
        streams: stream === 'both' ? outputStreams : [stream],
        context,
        attempt,
        cursor,
      };
      if (searches >= searchLimits.searchesMax) {
        throw new DroverError('too-many-streams', `${searches} searches are under way`, {
          details: { retryAfterMs: 500 },
        });
      }
      searches++;
      const lines = Readable.from(linesOf(searchOutput(shell, search)), { highWaterMark: 1 });
      lines.once('close', () => searches--);
      return reply.type(ndjsonType).send(lines);
    },
  );
}

/** What goes wrong once it has begun is its last line. */
async function* linesOf(found: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  try {
    for await (const lines of found) yield lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  } catch (error) {
    yield `${JSON.stringify(bodyOf(asDroverError(error)))}\n`;
  }
}
