/** Once nothing goes wrong any more: everything ends, everyone agrees, and the history tells the same as the rows. */
import { isDeepStrictEqual } from 'node:util';
import type { ControllerShell } from '../src/controller/shell.ts';
import type { Cluster } from '../src/core/cluster.ts';
import { DroverError } from '../src/model/errors.ts';
import { isEndedWorkflow, taskStates } from '../src/model/states.ts';
import { foldHistory } from '../src/store/fold.ts';
import { loadCluster } from '../src/store/load.ts';
import { normalForm } from '../src/store/normal-form.ts';
import type { Client } from './client.ts';
import type { World } from './world.ts';

/** The longest back-offs, the longest tasks, and the idle time of a definer that went silent. */
const mostMs = 3_600_000;
const lookMs = 1_000;

export async function settle(world: World): Promise<void> {
  const { kernel, injector, checks } = world;
  injector.heal();
  for (const worker of world.httpWorkers) worker.isHealed = true;
  const deadline = kernel.now + mostMs;
  do {
    await untilSettled(world, deadline);
    if (kernel.violation !== undefined) return;
    checks.checkEverything();
    // A commit that was under way when the world was healed may still have been its controller's last.
  } while (!(await checkStore(world)));
}

async function untilSettled(world: World, deadline: number): Promise<void> {
  const { kernel } = world;
  for (let why = whyUnsettled(world); why !== undefined; why = whyUnsettled(world)) {
    if (kernel.now >= deadline) kernel.fail('liveness', why);
    if (kernel.violation !== undefined) return;
    cancelOrphans(world);
    releaseWorkers(world);
    await kernel.runUntil(kernel.now + lookMs);
  }
}

/**
 * Workflows whose client never learned of them, since the controller died before it could say, or forgot them, since the
 * controller did: nobody closes them, or sees to tasks that are held.
 */
function cancelOrphans({ clients, controller, kernel }: World): void {
  const { shell } = controller;
  if (shell === undefined || clients.some(({ isDone }) => !isDone)) return;
  const known = new Set(clients.flatMap(({ acknowledged }) => acknowledged.map(({ workflow }) => workflow)));
  for (const [workflow, { state, open }] of shell.controller.cluster.workflows) {
    const { tasks } = shell.controller.cluster;
    const needsSomeone =
      open || [...shell.controller.cluster.workflow(workflow).tasks()].some((id) => tasks.isHeld(id));
    if (known.has(workflow) || !needsSomeone || isEndedWorkflow(state)) continue;
    shell.request({ type: 'cancel', workflow }).catch((error: unknown) => kernel.fail('18', String(error)));
  }
}

/** An operator looks after those that get no tasks. */
function releaseWorkers({ controller: { shell }, kernel }: World): void {
  if (shell === undefined) return;
  const { cluster, sessions } = shell.controller;
  for (const { id, kind, bar } of cluster.liveWorkers.values()) {
    if (bar === undefined || (kind === 'native' && sessions.linkOf(id) === undefined)) continue;
    shell.request({ type: 'release-worker', worker: id }).catch((error: unknown) => {
      if (!(error instanceof DroverError)) kernel.fail('18', String(error));
    });
  }
}

function whyUnsettled({ clients, controller, truth, hosts }: World): string | undefined {
  const { shell } = controller;
  if (shell === undefined) return 'the controller does not come up';
  const { cluster } = shell.controller;
  const busy = clients.find(({ isDone }) => !isDone);
  if (busy !== undefined) return `${busy.plan.name} waits for ever: ${describe(cluster, busy)}`;
  for (const [id, { state }] of cluster.workflows) if (!isEndedWorkflow(state)) return `w${id} is ${state} for ever`;
  const [alive] = truth.live;
  if (alive !== undefined) return `attempt ${alive.attempt} of ${alive.task} runs for ever on ${alive.machine}`;
  for (const host of hosts) {
    if (!host.isServing) continue;
    const [held] = host.shell?.worker.held.keys() ?? [];
    if (held !== undefined) return `${host.machine} keeps attempt ${held} for ever`;
    const record = [...cluster.liveWorkers.values()].find(({ instance }) => instance === host.instance);
    if (record?.state !== 'healthy' && !isRival(host, hosts)) return `${host.machine} never gets healthy`;
  }
  return undefined;
}

function describe(cluster: Cluster, { acknowledged }: Client): string {
  const mine = acknowledged.map(({ workflow }) => {
    const record = cluster.workflow(workflow);
    const counts = taskStates
      .filter((state) => record.count(state) > 0)
      .map((state) => `${record.count(state)} ${state}`);
    return `w${workflow} is ${record.state} (stop ${record.stop}, open ${record.open}) with ${counts.join(', ')}`;
  });
  return mine.join('; ');
}

/** Of two with one shard only one is taken; the other one dies, and tries again. */
const isRival = (host: World['hosts'][number], hosts: World['hosts']): boolean =>
  hosts.some((other) => other !== host && other.plan.shard === host.plan.shard);

/** Ids that were skipped, since a worker named them that the store had forgotten, are skipped until a restart only. */
const formOf = (cluster: Cluster): unknown => ({ ...(normalForm(cluster) as object), lastAttempt: undefined });

/** A reader waits for the turn under way, and turns go on only while the kernel does. */
async function lookAt(shell: ControllerShell, { kernel, controller }: World): Promise<unknown> {
  let seen: unknown;
  void shell.read(formOf).then((form) => {
    seen = form;
  });
  kernel.drainNext();
  await kernel.runUntil(kernel.now + mostMs, () => seen !== undefined || controller.shell !== shell);
  return seen;
}

/** Returns false when the controller died meanwhile. */
async function checkStore(world: World): Promise<boolean> {
  const { kernel, disk, controller, clients, checks } = world;
  const { shell, process } = controller;
  const live = shell === undefined ? undefined : await lookAt(shell, world);
  if (live === undefined && controller.shell !== shell) return false;
  const store = disk.open(process);
  const loaded = await loadCluster(store, kernel.now);
  const folded = await foldHistory(store);
  const [unlike, untold] = [difference(live, formOf(loaded)), difference(live, formOf(folded))];
  if (unlike !== undefined) kernel.fail('8', `what is loaded from the rows is not what was live: ${unlike}`);
  if (untold !== undefined) kernel.fail('fold', `the history tells another story than the rows: ${untold}`);
  for (const client of clients) checks.checkAcknowledged(client.acknowledged, loaded);
  return true;
}

/** The first place in which two forms are not the same. */
function difference(expected: unknown, found: unknown, at = ''): string | undefined {
  if (isDeepStrictEqual(expected, found)) return undefined;
  const isBoth = [expected, found].every((value) => typeof value === 'object' && value !== null);
  if (!isBoth) return `${at} is ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`;
  const [one, other] = [expected, found] as [Record<string, unknown>, Record<string, unknown>];
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const deeper = difference(one[key], other[key], `${at}.${key}`);
    if (deeper !== undefined) return deeper;
  }
  return at;
}
