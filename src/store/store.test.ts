import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it } from 'vitest';
import { conformanceCases, type Place } from './conformance.ts';
import { accessCases } from './conformance-access.ts';
import { definitionCases } from './conformance-definitions.ts';
import { failureCases } from './conformance-failures.ts';
import { resourceCases } from './conformance-resources.ts';
import { MemoryDisk } from './memory/store.ts';
import { openSqliteStore } from './sqlite/store.ts';

const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

function memoryPlace(): Place {
  const disk = new MemoryDisk('generation');
  return { open: async () => disk.open() };
}

function sqlitePlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'drover-store-'));
  directories.push(directory);
  return { open: async () => openSqliteStore(directory) };
}

describe.each([
  ['memory', memoryPlace],
  ['SQLite', sqlitePlace],
])('the %s store', (_, placeOf) => {
  const cases = [...conformanceCases, ...definitionCases, ...accessCases, ...resourceCases, ...failureCases];
  for (const { name, run } of cases) it(name, () => run(placeOf()));
});
