/** What kind of task a definer's words make. */
import type { TaskKind } from '../core/task/view.ts';
import type { TaskSpec } from '../protocol/spec.ts';

export const kindOf = ({ command, check }: TaskSpec): TaskKind =>
  command !== undefined ? 'command' : check ? 'check' : 'join';
