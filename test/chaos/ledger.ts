/**
 * What tasks leave outside of Drover: a line when they begin and one when they end, each appended by a single write; where
 * wanted, one every tenth of a second between, to tell how long one lived that was killed.
 * A task is told apart by a nonce in its command, so that counting does not rest on what Drover says.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Entry {
  readonly what: 'begin' | 'beat' | 'end';
  readonly nonce: string;
  /** As Drover names it: w3.17. */
  readonly task: string;
  readonly attempt: number;
  readonly worker: string;
  /** Ms since the epoch, by the shell's clock. */
  readonly at: number;
}

/** `daemon`: has a child that left its session, for whoever ends the task. `loud`: prints more than an end carries. */
export type Kind = 'plain' | 'daemon' | 'loud';

export const loudBytes = 200_000;

/** A pipe that nobody writes to: waiting on it takes no process. */
const restWithBeats = `
  local until=$((\${EPOCHREALTIME/[.,]/} + 10#\${1/./} * 1000)) pipe
  exec {pipe}<> <(:)
  while ((\${EPOCHREALTIME/[.,]/} < until)); do read -rt 0.1 <&$pipe; mark beat; done`;

const script = (path: string, hasBeats: boolean): string => `
nonce=$1
mark() { echo "$1 $nonce $DROVER_TASK_ID $DROVER_ATTEMPT $DROVER_WORKER $EPOCHREALTIME" >> '${path}'; }
rest() { ${hasBeats ? restWithBeats : 'sleep "$1"'}
}
mark begin
case $3 in
  daemon) setsid sleep 10000 & daemon=$! ;;
  loud) head -c ${loudBytes} /dev/zero | tr '\\0' x ;;
esac
rest "$2"
[ -z "$daemon" ] || kill "$daemon"
echo "$nonce, attempt $DROVER_ATTEMPT"
mark end
`;

export class Ledger {
  readonly #path: string;

  constructor(folder: string, hasBeats = false) {
    this.#path = join(folder, 'ledger');
    writeFileSync(this.#path, '');
    writeFileSync(join(folder, 'task.bash'), script(this.#path, hasBeats));
  }

  /** The line of a task that takes so long. */
  commandFor(nonce: string, kind: Kind, ms: number): string {
    return `. ./task.bash ${nonce} ${(ms / 1_000).toFixed(3)} ${kind}`;
  }

  /** What the line prints. */
  outputOf(command: string, attempt: number): string {
    const [, , nonce = '', , kind] = command.split(' ');
    return `${kind === 'loud' ? 'x'.repeat(loudBytes) : ''}${nonce}, attempt ${attempt}\n`;
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
  const isWhole = (what === 'begin' || what === 'beat' || what === 'end') && nonce && task && attempt && worker && at;
  if (!isWhole) throw new Error(`the ledger has a line that no task writes: ${line}`);
  return { what, nonce, task, attempt: Number(attempt), worker, at: Number(at.replace(',', '.')) * 1_000 };
}
