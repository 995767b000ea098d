/** What a command needs of the process and the machine around it. Its Node side is in src/platform/node. */

export interface Output {
  readonly isTerminal: boolean;
  /** Width of the terminal. */
  readonly columns: number;
  /** Resolves when written: false once nobody reads any more, which is no error. */
  write(content: string | Uint8Array): Promise<boolean>;
}

export type PathKind = 'file' | 'directory' | 'missing';

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** A regular expression that can't take longer than it is given: one that did would not let Ctrl-C through. */
export interface LinePattern {
  /** For each of the lines, where it is found, up to so many places; throws `pattern-too-slow` after that time. */
  find(lines: readonly string[], placesMax: number, msMax: number): readonly { readonly length: number }[];
}

export interface CliEnv {
  /** Of Drover. */
  readonly version: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Cores that this process may use. */
  readonly cores: number;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly isStdinTerminal: boolean;
  readStdin(): AsyncIterable<Uint8Array>;
  /** A pipe or device counts as a file. */
  kindOf(path: string): PathKind;
  isExecutable(path: string): boolean;
  readFile(path: string): AsyncIterable<Uint8Array>;
  /** All of it or nothing: what was there before stays until the new content is whole. */
  writeFile(path: string, pieces: Iterable<string>): Promise<void>;
  /** SHA-256 in hex. */
  digest(text: string): string;
  /**
   * Runs a line by the shell, here, with these variables besides the others; what it writes goes to stderr. One that takes
   * longer is ended.
   */
  runShell(line: string, variables: Readonly<Record<string, string>>, msMax: number): Promise<number | 'too-long'>;
  /** Throws `bad-input` for what is no regular expression. */
  compilePattern(source: string, ignoresCase: boolean): LinePattern;
  /** For a command that passes much on and keeps nothing: memory is preferred to speed from now on. */
  staySmall(): void;
  /** While there is a listener, these signals do not end the process. Returns how to stop listening. */
  onSignal(listener: (signal: StopSignal) => void): () => void;
}
