/** What a corpus is made of: commands, and what each finds around it. */

/** A text is a plain file; `mode` is octal as for chmod. */
export type FileSpec =
  | string
  | { readonly text: string; readonly mode: number }
  | { readonly directory: true; readonly mode?: number }
  | { readonly link: string };

export type Files = Readonly<Record<string, FileSpec>>;

export type Field = 'exit' | 'signal' | 'stdout' | 'stderr' | 'files' | 'leftovers';

export type Entry = {
  readonly command: string;
  /** What is attacked, where the command does not say it. */
  readonly note?: string;
  readonly only?: 'bash' | 'sh';
  /** What is in the working directory before. */
  readonly files?: Files;
  /** Added to the fixed environment, or replacing its entries; `NAME` alone takes one away. */
  readonly env?: readonly string[];
  /** Where the order of lines has no meaning: of an environment, or of what processes that run at once complain of. */
  readonly unordered?: 'stdout' | 'stderr';
  /** A deliberate difference, which must be there: one that is gone fails too. */
  readonly differs?: { readonly fields: readonly Field[]; readonly why: string };
};

export type Corpus = { readonly subject: string; readonly entries: readonly (string | Entry)[] };

export function entriesOf(corpus: Corpus, shell: 'bash' | 'sh'): Entry[] {
  return corpus.entries
    .map((entry) => (typeof entry === 'string' ? { command: entry } : entry))
    .filter(({ only }) => only === undefined || only === shell);
}

/** An executable file in the working directory. */
export function script(text: string): FileSpec {
  return { text, mode: 0o755 };
}

export const DIRECTORY: FileSpec = { directory: true };

/** The entries, each with those of the files that its command or PATH may mean: to make all of them takes long. */
export function choosing(files: Files, entries: readonly (string | Entry)[]): Entry[] {
  return sharing({}, entries).map((entry) => {
    const text = [entry.command, ...(entry.env ?? [])].join('\n');
    const names = Object.keys(files).filter((path) => {
      const parts = path.split('/');
      return text.includes(parts[0] ?? path) || entry.command.includes(parts.at(-1) ?? path);
    });
    return { ...entry, files: Object.fromEntries(names.map((name) => [name, files[name] ?? ''])) };
  });
}

/** One list of entries that share what they find. */
export function sharing(common: Omit<Entry, 'command'>, entries: readonly (string | Entry)[]): Entry[] {
  return entries.map((entry) => ({ ...common, ...(typeof entry === 'string' ? { command: entry } : entry) }));
}
