/** Recorded workflows to test with, and what their files say of edges. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Instance } from '../../src/wfformat/schema.ts';

const folder = join(import.meta.dirname, 'fixtures');

export const instanceFiles = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name) => join(folder, name));

export const readInstance = (file: string): Instance => JSON.parse(readFileSync(file, 'utf8')) as Instance;

/** As `parent → child`, sorted. */
export const edgesOf = ({ workflow }: Instance): string[] =>
  workflow.specification.tasks.flatMap(({ id, parents }) => parents.map((parent) => `${parent} → ${id}`)).sort();

export const idsOf = ({ workflow }: Instance): string[] => workflow.specification.tasks.map(({ id }) => id).sort();
