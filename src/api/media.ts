/** Routes by the type of a request's body: one path takes a document or, as NDJSON, a stream of lines. */
export const ndjsonType = 'application/x-ndjson';

/** A constraint of Fastify's router. Without a route for that type, the one without a constraint is taken. */
export const mediaConstraint = {
  name: 'media',
  mustMatchWhenDerived: false,
  storage: <Handler>() => {
    const handlers = new Map<string, Handler>();
    return {
      get: (media: string): Handler | null => handlers.get(media) ?? null,
      set: (media: string, handler: Handler): void => void handlers.set(media, handler),
    };
  },
  deriveConstraint: ({ headers }: { readonly headers: { readonly 'content-type'?: string | undefined } }): string =>
    headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '',
  validate: () => true,
} as const;
