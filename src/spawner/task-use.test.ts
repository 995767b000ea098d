import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { loadLibc } from '../platform/node/libc.ts';
import { ProcFiles } from '../platform/node/process-look.ts';
import { killTree } from '../platform/node/process-tree.ts';
import { until } from './driver.testing.ts';
import { TaskUse } from './task-use.ts';

it('a look that falls into an exec is no peak', async () => {
  const again = 'exec "$BASH" -c "$AGAIN"';
  const { pid = 0 } = spawn('bash', ['-c', again], { env: { ...process.env, AGAIN: again }, stdio: 'ignore' });
  const files = new ProcFiles(loadLibc(), () => 0);
  /** As of a task that is looked at once. */
  const lookOnce = (): { readonly isInExec: boolean; readonly peakBytes: number } => {
    const use = new TaskUse({ key: 1, startedMs: performance.now(), at: 0 }, files);
    use.look([pid], performance.now(), false);
    const isInExec = use.tree.size === 1 && use.tree.settledPids.length === 0;
    use.readPeaks(performance.now());
    use.tree.close();
    return { isInExec, peakBytes: use.peakBytes };
  };
  try {
    const inExec = new Set<number>();
    let most = 0;
    await until(() => {
      for (let looks = 0; looks < 100; looks++) {
        const { isInExec, peakBytes } = lookOnce();
        if (isInExec) inExec.add(peakBytes);
        most = Math.max(most, peakBytes);
      }
      return inExec.size > 0 && most > 1_000_000;
    }, 'a look into an exec, and one at a program');
    expect([...inExec]).toEqual([0]);
  } finally {
    killTree(pid, { includeRoot: true });
  }
});
