/** Schemas that TypeBox has no word for. */
import { Type } from 'typebox';

/** One of the given words, typed as exactly those. */
export const oneOf = <const T extends readonly string[]>(words: T) =>
  Type.Unsafe<T[number]>(Type.Union(words.map((word) => Type.Literal(word))));
