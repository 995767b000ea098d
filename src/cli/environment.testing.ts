/** A `CliEnv` that lives in memory, for tests of the commands. */
import type { CliEnv, Output, PathKind, StopSignal } from './environment.ts';

export class MemoryOutput implements Output {
  isTerminal = false;
  columns = 80;
  /** What a closed pipe does: from then on nothing is taken. */
  isClosed = false;
  private readonly pieces: Uint8Array[] = [];

  get text(): string {
    return Buffer.concat(this.pieces).toString();
  }

  get lines(): string[] {
    return this.text.split('\n').slice(0, -1);
  }

  async write(content: string | Uint8Array): Promise<boolean> {
    if (!this.isClosed) this.pieces.push(Buffer.from(content));
    return !this.isClosed;
  }
}

export class MemoryEnvironment implements CliEnv {
  readonly version = '1.2.3';
  readonly cwd = '/me';
  readonly cores = 4;
  readonly stdout = new MemoryOutput();
  readonly stderr = new MemoryOutput();
  isStdinTerminal = false;
  stdin = '';
  variables: Record<string, string> = { PATH: '/bin', HOME: '/me' };
  readonly files = new Map<string, string>();
  readonly directories = new Set(['/me']);
  readonly executables = new Set(['/bin/bash', '/bin/sh']);
  private readonly listeners = new Set<(signal: StopSignal) => void>();

  get isListening(): boolean {
    return this.listeners.size > 0;
  }

  raise(signal: StopSignal): void {
    for (const listener of this.listeners) listener(signal);
  }

  async *readStdin(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(this.stdin);
  }

  kindOf(path: string): PathKind {
    if (this.directories.has(path)) return 'directory';
    return this.files.has(path) ? 'file' : 'missing';
  }

  isExecutable(path: string): boolean {
    return this.executables.has(path);
  }

  async *readFile(path: string): AsyncGenerator<Uint8Array> {
    const content = this.files.get(path);
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    yield Buffer.from(content);
  }

  async writeFile(path: string, pieces: Iterable<string>): Promise<void> {
    this.files.set(path, [...pieces].join(''));
  }

  /** As long as a real one, and as different for different texts as tests need. */
  digest(text: string): string {
    const lanes = Array.from({ length: 8 }, (_, lane) => 2_166_136_261 + lane);
    for (const byte of Buffer.from(text)) {
      for (let lane = 0; lane < lanes.length; lane++)
        lanes[lane] = Math.imul((lanes[lane] ?? 0) ^ byte, 16_777_619 + 2 * lane);
    }
    return lanes.map((lane) => (lane >>> 0).toString(16).padStart(8, '0')).join('');
  }

  /** What was run by the shell, with its variables. */
  readonly shellRuns: (readonly [line: string, variables: Readonly<Record<string, string>>])[] = [];

  async runShell(line: string, variables: Readonly<Record<string, string>>): Promise<number | 'too-long'> {
    this.shellRuns.push([line, variables]);
    if (line === 'forever') return 'too-long';
    return line === 'false' ? 1 : 0;
  }

  /** Brought by tests that search: expressions are a matter of the platform. */
  compilePattern: CliEnv['compilePattern'] = () => {
    throw new Error('this test has no expressions');
  };

  staySmall(): void {}

  onSignal(listener: (signal: StopSignal) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
