/** Runs commands by real shells. Owns the process that starts them, and who waits for which. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Run, RunEnd } from './run.ts';

export class ReferenceRunner {
  private readonly process = fork(join(import.meta.dirname, 'reference-process.ts'), {
    execArgv: [],
    serialization: 'advanced',
  });
  private readonly waiting = new Map<number, (end: RunEnd) => void>();
  private count = 0;

  constructor() {
    this.process.on('message', ({ id, end }: { id: number; end: RunEnd }) => {
      this.waiting.get(id)?.(end);
      this.waiting.delete(id);
    });
  }

  run(run: Run): Promise<RunEnd> {
    const id = ++this.count;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.process.send({ id, run });
    });
  }

  async close(): Promise<void> {
    this.process.disconnect();
    await once(this.process, 'exit');
  }
}
