/**
 * What tasks leave outside of Drover: a line when they begin and one when they end, each appended by a single write.
 * A task is told apart by a nonce in its command, so that counting does not rest on what Drover says.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Entry {
  readonly what: 'begin' | 'end';
  readonly nonce: string;
  /** As Drover names it: w3.17. */
  readonly task: string;
  readonly attempt: number;
  readonly worker: string;
  /** Ms since the epoch, by the shell's clock. */
  readonly at: number;
}

const script = (path: string): string => `
mark() { echo "$1 $nonce $DROVER_TASK_ID $DROVER_ATTEMPT $DROVER_WORKER $EPOCHREALTIME" >> '${path}'; }
nonce=$1
mark begin
sleep "$2"
echo "$nonce, attempt $DROVER_ATTEMPT"
mark end
`;

export class Ledger {
  readonly #path: string;

  constructor(folder: string) {
    this.#path = join(folder, 'ledger');
    writeFileSync(this.#path, '');
    writeFileSync(join(folder, 'task.bash'), script(this.#path));
  }

  /** The line of a task that takes so long. */
  commandFor(nonce: string, ms: number): string {
    return `. ./task.bash ${nonce} ${(ms / 1_000).toFixed(3)}`;
  }

  outputOf(nonce: string, attempt: number): string {
    return `${nonce}, attempt ${attempt}\n`;
  }

  read(): Entry[] {
    return readFileSync(this.#path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map(entryOf);
  }
}

function entryOf(line: string): Entry {
  const [what, nonce, task, attempt, worker, at] = line.split(' ');
  const isWhole = (what === 'begin' || what === 'end') && nonce && task && attempt && worker && at;
  if (!isWhole) throw new Error(`the ledger has a line that no task writes: ${line}`);
  return { what, nonce, task, attempt: Number(attempt), worker, at: Number(at.replace(',', '.')) * 1_000 };
}
