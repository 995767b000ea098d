/** For commands that do the same to each of several things: one that fails does not keep the others from it. */
import { DroverError, exitCodes } from '../model/errors.ts';
import { type CommonOptions, printJson } from './context.ts';
import type { CliEnv } from './environment.ts';
import { describeError, errorObject } from './failure.ts';
import type { Named } from './reference.ts';

export interface Answer {
  readonly id: string;
  readonly state: string;
  /** For people; all else is printed with `--json`. */
  readonly text: string;
}

/** Resolves with the exit code of the first that failed. */
export async function answerEach(
  env: CliEnv,
  { json }: CommonOptions,
  targets: readonly Named[],
  act: (target: Named) => Promise<Answer>,
): Promise<number> {
  let code: number = exitCodes.ok;
  for (const target of targets) {
    try {
      const { text, ...answer } = await act(target);
      if (json) await printJson(env, answer);
      else await env.stdout.write(`${text}\n`);
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      code ||= error.exitCode;
      if (json) await printJson(env, { id: target.task ?? target.workflow, ...errorObject(error) });
      await env.stderr.write(describeError(error));
    }
  }
  return code;
}
