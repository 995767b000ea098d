/** Schemas that many others are made of. */
import { Type } from 'typebox';

/** One of the given words, typed as exactly those. */
export const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>(Type.Union(words.map((word) => Type.Literal(word))));

export const count = Type.Integer({ minimum: 0 });
export const amount = Type.Number({ minimum: 0 });
/** For readers: ISO-8601 in UTC with ms. */
export const time = Type.String();
