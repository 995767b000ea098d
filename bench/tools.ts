/** What is installed for the bench: `.bench/` in the clone (never in the project's own dependencies), else the machine. */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Workshop } from './workshop.ts';

export const root = resolve(import.meta.dirname, '..');
export const toolsFolder = join(root, '.bench');
export const venvFolder = join(toolsFolder, 'venv');
export const npmFolder = join(toolsFolder, 'npm');

const places = (): string[] => [
  join(venvFolder, 'bin'),
  ...(process.env.PATH ?? '').split(delimiter),
  // Debian keeps the server's programs out of the path.
  ...['17', '16', '15', '14', '13'].map((version) => `/usr/lib/postgresql/${version}/bin`),
  '/usr/sbin',
];

export function findProgram(name: string): string | undefined {
  return places()
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function programOf(name: string): string {
  const found = findProgram(name);
  if (found === undefined) throw new Error(`${name} is not installed`);
  return found;
}

const installAll = "'npm run bench -- --install' installs all peers";

/** For `Contender.missing`. */
export function missingProgram(name: string, how: string): string | undefined {
  return findProgram(name) === undefined ? `${name} is not installed: ${how}; ${installAll}` : undefined;
}

export const packageFolder = (name: string): string => join(npmFolder, 'node_modules', name);

export function missingPackage(name: string): string | undefined {
  const how = `npm install --prefix .bench/npm ${name}`;
  return existsSync(packageFolder(name)) ? undefined : `${name} is not installed: ${how}; ${installAll}`;
}

export const missingCompiler = (): string | undefined => missingProgram('gcc', 'apt-get install gcc libc6-dev');

/** Compiles a file of bench/limit into `.bench/` unless it is there and newer than its source. */
export async function compiled(workshop: Workshop, name: 'limit' | 'slow-fsync'): Promise<string> {
  const source = join(import.meta.dirname, 'limit', `${name}.c`);
  const target = join(toolsFolder, name === 'limit' ? name : `${name}.so`);
  const made = statSync(target, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (made > statSync(source).mtimeMs) return target;
  mkdirSync(toolsFolder, { recursive: true });
  const flags = name === 'limit' ? [] : ['-shared', '-fPIC'];
  const libraries = name === 'limit' ? [] : ['-ldl'];
  await workshop.run(programOf('gcc'), ['-O2', '-Wall', '-o', target, ...flags, source, ...libraries]);
  return target;
}
