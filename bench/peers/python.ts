/** Packages of Python that are installed in `.bench/venv`. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { venvFolder } from '../tools.ts';

function installedFolders(): string[] {
  const lib = join(venvFolder, 'lib');
  if (!existsSync(lib)) return [];
  return readdirSync(lib).flatMap((version) => readdirSync(join(lib, version, 'site-packages')));
}

/** Its version, as pip notes it in the name of a folder. */
export function installedPython(name: string): string | undefined {
  const suffix = '.dist-info';
  const found = installedFolders().find((folder) => folder.startsWith(`${name}-`) && folder.endsWith(suffix));
  return found?.slice(name.length + 1, -suffix.length);
}

export function missingPython(name: string): string | undefined {
  if (installedPython(name) !== undefined) return undefined;
  return `${name} is not installed: python3 -m venv .bench/venv && .bench/venv/bin/pip install ${name}; 'npm run bench -- --install' installs all peers`;
}
