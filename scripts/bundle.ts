/**
 * Bundles the programs of src/main into .bundle/, which is what ./drover and the package run.
 *
 * 1. A bundle is never half there: files are written aside, then renamed, shared chunks first and programs last.
 * 2. A program that runs while its bundle is replaced still finds its lazy chunks: they are named by content,
 *    and those of the build before are kept.
 * 3. The stamp is as old as the start of the build, so a source that changed meanwhile counts as newer.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '..');
const target = join(root, '.bundle');
const stamp = join(target, 'stamp');
const programs = ['cli', 'worker', 'spawner', 'client'];

/** CommonJS packages inside an ES module still call `require` for Node's own modules. */
const requireForCommonJs = [
  "import { createRequire as createRequireForBundle } from 'node:module';",
  'const require = createRequireForBundle(import.meta.url);',
].join('\n');

/**
 * Source maps have the lines of our sources, and of the packages only the files: Node reads a map before it runs
 * the file, and the lines of the packages would double the time that a command takes to start.
 */
const packagesMappedByFile: Plugin = {
  name: 'packages-mapped-by-file',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]node_modules[/\\].*\.[cm]?js$/ }, ({ path }) => {
      const map = JSON.stringify({ version: 3, sources: [basename(path)], mappings: 'AAAA' });
      const url = `data:application/json;base64,${Buffer.from(map).toString('base64')}`;
      return { contents: `${readFileSync(path, 'utf8')}\n//# sourceMappingURL=${url}`, loader: 'js' };
    });
  },
};

async function bundleInto(folder: string): Promise<void> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: programs.map((name) => join('src', 'main', `${name}.ts`)),
    outdir: target, // for the paths in the source maps; the files are written to `folder`
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    splitting: true,
    chunkNames: 'chunk-[hash]',
    external: ['koffi'], // native: it stays in node_modules
    plugins: [packagesMappedByFile],
    banner: { js: requireForCommonJs },
    // What is read at each start is a third shorter: a run of one task takes a twentieth less. Names stay, for who reads a stack.
    minifyWhitespace: true,
    lineLimit: 160,
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
  });
  for (const file of outputFiles) writeFileSync(join(folder, basename(file.path)), file.contents);

  const cli = join(folder, 'cli.js');
  if (!readFileSync(cli, 'utf8').startsWith('#!')) {
    throw new Error("src/main/cli.ts must start with '#!/usr/bin/env node': it is the package's command");
  }
  chmodSync(cli, 0o755);
}

/** The files that the build before left, as its stamp lists them. */
function filesOfLastBuild(): string[] {
  try {
    return readFileSync(stamp, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function isProgram(file: string): boolean {
  return programs.some((name) => file === `${name}.js`);
}

function moveIntoPlace(folder: string, startedAt: Date): void {
  const files = readdirSync(folder);
  const kept = new Set([...files, ...filesOfLastBuild()]);
  const inOrder = [...files.filter((file) => !isProgram(file)), ...files.filter(isProgram)];
  for (const file of inOrder) renameSync(join(folder, file), join(target, file));

  const newStamp = join(folder, 'stamp');
  writeFileSync(newStamp, `${files.sort().join('\n')}\n`);
  utimesSync(newStamp, startedAt, startedAt);
  renameSync(newStamp, stamp);

  for (const file of readdirSync(target)) {
    if (/\.js(\.map)?$/.test(file) && !kept.has(file)) rmSync(join(target, file), { force: true });
  }
}

const startedAt = new Date();
mkdirSync(target, { recursive: true });
const aside = mkdtempSync(join(target, 'new-'));
try {
  await bundleInto(aside);
  moveIntoPlace(aside, startedAt);
} catch (error) {
  // esbuild has said what is wrong with the sources; its stack says nothing.
  if (!(error instanceof Error && 'errors' in error)) throw error;
  process.exitCode = 1;
} finally {
  rmSync(aside, { recursive: true, force: true });
}
