/** What kind of task a definer's words make. */
import type { TaskKind } from '../core/task/view.ts';
import type { TaskSpec } from '../protocol/spec.ts';

/** One that need not run is like one without a command: it is done when all that it waits for is. */
export const kindOf = ({ command, check, skipped }: TaskSpec): TaskKind =>
  command !== undefined && skipped === undefined ? 'command' : check ? 'check' : 'join';
