/**
 * Runs commands twice, by a real shell and by the spawner, and tells how the two differ.
 * Owns a temporary directory. Invariant: both runs of a command see the same paths, one after the other, so that nothing
 * that prints its directory has to be made comparable.
 */

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Entry, FileSpec } from './case.ts';
import type { Difference, Outcome } from './outcome.ts';
import { differences, snapshot, surprises } from './outcome.ts';
import { ReferenceRunner } from './reference-runner.ts';
import type { Run, RunEnd } from './run.ts';
import { SpawnerRunner } from './spawner-runner.ts';

/** More than there are cores: many commands wait for something. */
const AT_ONCE = 8;
/** A difference counts when it is there each time: two processes of one command may race. */
const ATTEMPTS = 3;

export class Bench {
  readonly root = mkdtempSync(join(tmpdir(), 'drover-differential-'));
  private readonly reference = new ReferenceRunner();
  private readonly spawner = new SpawnerRunner();

  /** The differences that the entries do not declare. */
  async compare(shell: string, entries: readonly Entry[]): Promise<Difference[]> {
    let suspects: { readonly entry: Entry; readonly found: Difference[] }[] = entries.map((entry) => ({
      entry,
      found: [],
    }));
    for (let attempt = 0; attempt < ATTEMPTS && suspects.length > 0; attempt++) {
      const again = suspects.map(({ entry }) => entry);
      const byShell = await this.runAll(shell, again, (run) => this.reference.run(run));
      const bySpawner = await this.runAll(shell, again, (run) => this.spawner.run(run));
      suspects = again.flatMap((entry, index) => {
        const [reference, drover] = [byShell[index], bySpawner[index]];
        if (!reference || !drover) throw new Error(`${entry.command} did not run`);
        const found = surprises(entry, differences(entry, reference, drover));
        return found.length > 0 ? [{ entry, found }] : [];
      });
    }
    return suspects.flatMap(({ found }) => found);
  }

  /** Ends the spawner; answers the processes that it has left. */
  async close(): Promise<number[]> {
    await this.reference.close();
    const left = await this.spawner.close();
    rmSync(this.root, { recursive: true, force: true });
    return left;
  }

  private async runAll(
    shell: string,
    entries: readonly Entry[],
    run: (run: Run) => Promise<RunEnd>,
  ): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    let next = 0;
    const runInTurn = async (): Promise<void> => {
      for (let index = next++; index < entries.length; index = next++) {
        const entry = entries[index];
        if (entry) outcomes[index] = await this.runOne(shell, entry, index, run);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, runInTurn));
    return outcomes;
  }

  private async runOne(
    shell: string,
    entry: Entry,
    index: number,
    run: (run: Run) => Promise<RunEnd>,
  ): Promise<Outcome> {
    const place = join(this.root, String(index));
    const cwd = join(place, 'folder');
    mkdirSync(cwd, { recursive: true });
    for (const [name, spec] of Object.entries(entry.files ?? {})) makeFile(join(cwd, name), spec);
    const at = (name: string) => join(place, name);
    const env = environment(this.root, cwd, entry.env ?? []);
    const end = await run({ command: entry.command, shell, cwd, env, stdout: at('out'), stderr: at('err') });
    const outcome = { ...end, files: snapshot(cwd) };
    rmSync(place, { recursive: true, force: true });
    return outcome;
  }
}

function environment(home: string, cwd: string, changes: readonly string[]): string[] {
  const fixed = [
    'PATH=/usr/local/bin:/usr/bin:/bin',
    `HOME=${home}`,
    'LC_ALL=C.UTF-8',
    'TZ=UTC',
    'GREETING=hello world',
  ];
  const entries = new Map([...fixed, ...changes].map((entry) => [entry.split('=', 1)[0], entry]));
  // Searched programs may be in the working directory, whose path nobody knows beforehand.
  return [...entries.values()].filter((entry) => entry.includes('=')).map((entry) => entry.replaceAll('{cwd}', cwd));
}

function makeFile(path: string, spec: FileSpec): void {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof spec === 'string') writeFileSync(path, spec);
  else if ('link' in spec) symlinkSync(spec.link, path);
  else if ('directory' in spec) mkdirSync(path, { recursive: true, mode: spec.mode ?? 0o755 });
  else {
    writeFileSync(path, spec.text);
    chmodSync(path, spec.mode);
  }
}
