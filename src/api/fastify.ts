/** What routes say about themselves beyond what Fastify knows: for the document of the API, and for who may ask. */
import type { FilteredList } from '../protocol/filter/fields.ts';

declare module 'fastify' {
  interface FastifySchema {
    /** What it does, in a few words. */
    summary?: string;
    /** What one has to know beyond that. */
    description?: string;
    /** A body that shows what is meant. */
    bodyExample?: unknown;
    /** Types of bodies that are taken besides those with a schema: streams. */
    consumes?: readonly string[];
    /** The type of its answer, where that is not JSON. */
    produces?: string;
  }
  interface FastifyContextConfig {
    /** The list whose fields its query string may filter by. */
    filters?: FilteredList;
  }
}
