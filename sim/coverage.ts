/** Which cells of the decision tables a run has reached. The tables are objects: each cell is replaced by one that counts. */
import { attemptTable } from '../src/core/attempt/table.ts';
import { taskTable } from '../src/core/task/table.ts';
import { workflowTable } from '../src/core/workflow/table.ts';

type AnyCell = { decide(view: unknown, command: unknown): unknown };
type AnyTable = Record<string, Record<string, AnyCell>>;

const tables: Readonly<Record<string, object>> = { task: taskTable, workflow: workflowTable, attempt: attemptTable };

/** By `table.state.command`: how often it decided. Call it once in a process. */
export function countCells(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [name, table] of Object.entries(tables)) {
    for (const [state, row] of Object.entries(table as AnyTable)) {
      for (const [command, cell] of Object.entries(row)) {
        const key = `${name}.${state}.${command}`;
        counts.set(key, 0);
        const decide = (view: unknown, given: unknown): unknown => {
          counts.set(key, (counts.get(key) ?? 0) + 1);
          return cell.decide(view, given);
        };
        row[command] = { ...cell, decide };
      }
    }
  }
  return counts;
}
