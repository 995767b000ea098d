/**
 * Defects that can be switched on, to show that the simulator finds them. The product has no switch for them: a
 * mutation is a patch of a source, applied while it is loaded (and after its types were stripped: it may add fields).
 * 1. What a patch looks for occurs exactly once in its source; else it fails loudly, and has to be written anew.
 */
import { registerHooks } from 'node:module';

export interface Patch {
  /** Below src/. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutation {
  readonly name: string;
  /** What goes wrong with it. */
  readonly defect: string;
  readonly patches: readonly Patch[];
  /** The scenario that shows it at once. */
  readonly scenario: string;
}

export function patched(source: string, { file, find, replace }: Patch): string {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`src/${file} has ${parts.length - 1} times what is replaced: ${find}`);
  return parts.join(replace);
}

/** From now on the modules are loaded with the defect in them. They must not have been loaded before. */
export function switchOn({ patches }: Mutation): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const mine = patches.filter(({ file }) => url === new URL(`../src/${file}`, import.meta.url).href);
      if (mine.length === 0) return loaded;
      return { ...loaded, source: mine.reduce(patched, String(loaded.source)) };
    },
  });
}
