/** A page of workflows, the newest first unless asked for otherwise. */
import type { ControllerShell } from '../../controller/shell.ts';
import type { WorkflowRecord } from '../../core/workflow/record.ts';
import { type WorkflowId, workflowId } from '../../model/ids.ts';
import { queryLimits } from '../../model/limits.ts';
import { taskStates } from '../../model/states.ts';
import type { Filter } from '../../protocol/filter/language.ts';
import type { FilterValue } from '../../protocol/filter/types.ts';
import type { CountView } from '../../protocol/views/pages.ts';
import { type WorkflowList, WorkflowView } from '../../protocol/views/workflows.ts';
import { renderWorkflow } from '../render.ts';
import { breath } from './breath.ts';
import { type ListQuery, type Page, pageOf } from './list-query.ts';
import { projectionOf } from './projection.ts';
import { type Test, testOf } from './test.ts';

const names = Object.keys(WorkflowView.properties) as (keyof WorkflowView)[];

export async function workflowView(shell: ControllerShell, workflow: WorkflowId): Promise<WorkflowView> {
  const spec = await shell.store.workflowSpec(workflow);
  return shell.read((cluster, now) => renderWorkflow(cluster, cluster.workflow(workflow), spec, now));
}

const timeOf = (time: number): number | undefined => (time === 0 ? undefined : time);

/** All but the name, which only the store has. */
const workflowValues: Readonly<Record<string, (workflow: WorkflowRecord) => FilterValue | undefined>> = {
  id: ({ id }) => id,
  state: ({ state }) => state,
  run: ({ run }) => run,
  total: (workflow) => taskStates.reduce((sum, state) => sum + workflow.countOfCommands(state), 0),
  done: (workflow) => workflow.countOfCommands('done'),
  failed: (workflow) => workflow.countOfCommands('failed'),
  createdAt: ({ createdAt }) => createdAt,
  startedAt: ({ startedAt }) => timeOf(startedAt),
  endedAt: ({ endedAt }) => timeOf(endedAt),
};

interface Tests {
  readonly inMemory: readonly ((workflow: WorkflowRecord) => boolean)[];
  readonly byName: readonly Test[];
}

function testsOf(filter: Filter): Tests {
  const [inMemory, byName]: [Tests['inMemory'][number][], Test[]] = [[], []];
  for (const clause of filter) {
    const test = testOf(clause);
    const value = workflowValues[clause.field.name];
    if (value === undefined) byName.push(test);
    else inMemory.push((workflow) => test(value(workflow)));
  }
  return { inMemory, byName };
}

export async function workflowPage(shell: ControllerShell, filter: Filter, query: ListQuery): Promise<WorkflowList> {
  const page = pageOf('workflows', query, ['-id', 'id']);
  const projection = projectionOf<WorkflowView>(query.fields, names);
  const tests = testsOf(filter);
  const { views, reached } = await select(shell, tests, page);
  return {
    workflows: views.map((view) => projection.of(view)),
    ...page.next(reached),
    ...(query.count ? { count: await countOf(shell, tests) } : {}),
  };
}

/** Ids are dense, and in memory; only the name comes from the store. */
async function select(
  shell: ControllerShell,
  tests: Tests,
  { after, isDescending, limit }: Pick<Page, 'after' | 'isDescending' | 'limit'>,
): Promise<{ readonly views: WorkflowView[]; readonly reached: number | undefined }> {
  const { specsMax, specsAtOnce, tasksAtOnce } = queryLimits;
  const views: WorkflowView[] = [];
  const size = await shell.read((cluster) => cluster.workflows.size);
  const step = isDescending ? -1 : 1;
  let id = isDescending ? Math.min(size, (after ?? size + 1) - 1) : (after ?? 0) + 1;
  for (let [looks, specs] = [0, 0]; id >= 1 && id <= size; id += step, looks++) {
    if (looks >= tasksAtOnce || specs >= specsMax) return { views, reached: id - step };
    const isCandidate = await shell.read((cluster) => {
      const record = cluster.workflows.get(workflowId(id));
      return record !== undefined && tests.inMemory.every((test) => test(record));
    });
    if (!isCandidate) continue;
    if (views.length >= limit) return { views, reached: id - step };
    const view = await workflowView(shell, workflowId(id));
    if (tests.byName.every((test) => test(view.name))) views.push(view);
    if (++specs % specsAtOnce === 0) await breath();
  }
  return { views, reached: undefined };
}

async function countOf(shell: ControllerShell, tests: Tests): Promise<CountView> {
  if (tests.byName.length > 0) {
    const whole = { after: undefined, isDescending: false, limit: queryLimits.specsMax };
    const { views, reached } = await select(shell, tests, whole);
    return { matched: views.length, isExact: reached === undefined };
  }
  return shell.read((cluster) => {
    if (tests.inMemory.length === 0) return { matched: cluster.workflows.size, isExact: true };
    let matched = 0;
    for (const record of cluster.workflows.values()) {
      if (tests.inMemory.every((test) => test(record))) matched++;
    }
    return { matched, isExact: true };
  });
}
