/** `drover logs`: what a task wrote, byte for byte. */
import { DroverError, exitCodes } from '../../model/errors.ts';
import { isEndedTask } from '../../model/states.ts';
import { showBytes } from '../../model/units.ts';
import type { Client } from '../../sdk/client.ts';
import { pause } from '../../sdk/pause.ts';
import { type CommonOptions, type Context, withClient } from '../context.ts';
import { named } from '../reference.ts';

export interface LogOptions extends Omit<CommonOptions, 'json'> {
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly attempt?: number;
}

const startPauseMs = 500;

export function logs(context: Context, name: string, options: LogOptions): Promise<number> {
  const { workflow, task, attempt = options.attempt } = named(name);
  if (task === undefined) {
    throw new DroverError('bad-reference', `${name} is a workflow, and only a task has output`, {
      hint: `name one of its tasks, for example ${workflow}.1; 'drover show ${workflow}' lists them`,
    });
  }
  const { follow = false, stderr = false } = options;
  return withClient(context, options, async (client) => {
    if (follow && attempt === undefined) await untilStarted(client, task);
    const query = {
      stream: stderr ? 'stderr' : 'stdout',
      follow,
      onMissing: (bytes: number) =>
        void context.env.stderr.write(
          `drover: ${showBytes(bytes)} are missing here: their worker ended before they were fetched, or their file in .drover/output is gone\n`,
        ),
      ...(attempt === undefined ? {} : { attempt }),
    } as const;
    for await (const bytes of client.output(task, query)) {
      // Who reads may have seen enough: `drover logs w1.1 | head`.
      if (!(await context.env.stdout.write(bytes))) break;
    }
    return exitCodes.ok;
  });
}

/** A task that waits has no output yet to follow. */
async function untilStarted(client: Client, task: string): Promise<void> {
  for (;;) {
    const { attempts, state } = await client.task(task);
    if (attempts > 0 || isEndedTask(state)) return;
    await pause(startPauseMs);
  }
}
