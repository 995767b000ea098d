/** Starting over from a store: what is loaded is then driven by the code that runs live. */
import { loadCluster } from '../store/load.ts';
import { Phases } from './phases.ts';
import { type ControllerSettings, defaultSettings } from './reactor.ts';
import { ControllerShell, type ControllerWorld } from './shell.ts';

/** `scheduler`: unique to this process, so that workers know that they have a new controller. */
export async function recoverController(
  world: ControllerWorld,
  scheduler: string,
  settings: ControllerSettings = defaultSettings,
): Promise<ControllerShell> {
  const { store, clock, log } = world;
  const phases = new Phases(log);
  phases.enter('recovering');
  const begunAt = clock.now();
  const cluster = await loadCluster(store, begunAt);
  const outputEnd = await store.outputEnd();
  const versionAtStart = await store.lastChange();
  const { generation } = store;
  const [tokens, answers] = [await store.tokens(), await store.answers()];
  const workers = [...cluster.liveWorkers.values()];
  const facts = {
    workflows: cluster.workflows.size,
    tasks: cluster.tasks.size,
    liveAttempts: workers.reduce((sum, { attempts }) => sum + attempts.size, 0),
    workers: workers.length,
    tookMs: Math.round(clock.now() - begunAt),
  };
  log.info(facts, 'recovered from the store');
  const start = { cluster, scheduler, outputEnd, generation, versionAtStart, tokens, answers, settings };
  return new ControllerShell(world, start, phases);
}
