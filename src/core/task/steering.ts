/** What a definer can do to one task or to many: which commands that takes, what came of them, or what would. */
import type { TaskId } from '../../model/ids.ts';
import type { Cluster } from '../cluster.ts';
import { type Decision, decideBy } from '../machine.ts';
import type { Turn } from '../turn.ts';
import { reinstateBehind } from './retrying.ts';
import { taskTable } from './table.ts';
import type { TaskCommand, TaskEvent } from './view.ts';

export const steeringVerbs = ['cancel', 'retry', 'hold', 'release', 'priority'] as const;
export type SteeringVerb = (typeof steeringVerbs)[number];

export interface Steering {
  readonly verb: SteeringVerb;
  /** For `priority`. */
  readonly priority?: number;
}

/** In the order in which they are tried, until one is accepted. A retry of what is held releases it. */
function commandsOf({ verb, priority = 0 }: Steering): readonly [TaskCommand, ...TaskCommand[]] {
  switch (verb) {
    case 'cancel':
      return [{ type: 'cancel', reason: 'user' }];
    case 'retry':
      return [{ type: 'release' }, { type: 'retry' }];
    case 'priority':
      return [{ type: 'prioritise', priority }];
    default:
      return [{ type: verb }];
  }
}

function firstAccepted(steering: Steering, decide: (command: TaskCommand) => Decision<TaskEvent>): Decision<TaskEvent> {
  const [first, ...more] = commandsOf(steering);
  let decision = decide(first);
  for (const command of more) if (decision.kind !== 'accept') decision = decide(command);
  return decision;
}

export function steerTask(turn: Turn, task: TaskId, steering: Steering): Decision<TaskEvent> {
  return firstAccepted(steering, (command) => {
    const decision = turn.task(task, command, 'definer');
    if (decision.kind === 'accept' && command.type === 'retry') reinstateBehind(turn, task);
    return decision;
  });
}

/** What would come of it now; nothing changes. */
export function foreseeTask(cluster: Cluster, task: TaskId, steering: Steering): Decision<TaskEvent> {
  const view = cluster.taskView(task);
  return firstAccepted(steering, (command) => decideBy(taskTable, view, command, 'definer'));
}
