/**
 * What the comments in src/protocol say of schemas and their fields, for the document of the API: a comment is right above
 * what it is about, and is not written twice.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** By the name of the schema, then by that of the field; `''` is the schema itself. */
export type Comments = Record<string, Record<string, string>>;

const folder = join(import.meta.dirname, '..', 'src', 'protocol');
const views = readdirSync(join(folder, 'views')).map((file) => `views/${file}`);
const commented = /\/\*\*((?:(?!\*\/).)*)\*\/\s*\n\s*(?:export const ([A-Z]\w*) = |(\w+): )/gs;
const declared = /^export const ([A-Z]\w*) = /gm;

export function schemaComments(
  files: readonly string[] = ['../definition/schema.ts', 'spec.ts', ...views.sort()],
): Comments {
  const comments: Comments = {};
  for (const file of files) {
    const source = readFileSync(join(folder, file), 'utf8');
    const schemas = [...source.matchAll(declared)].map(({ index, 1: name = '' }) => ({ index, name }));
    for (const { index, 1: text = '', 2: schema, 3: field } of source.matchAll(commented)) {
      const name = schema ?? schemas.findLast((one) => one.index < index)?.name;
      if (name === undefined) continue;
      comments[name] = { ...comments[name], [field ?? '']: plain(text) };
    }
  }
  return comments;
}

const plain = (text: string): string => text.replace(/\s*\n\s*\*\s?/g, ' ').trim();
