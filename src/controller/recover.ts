/** Starting over from a store: what is loaded is then driven by the code that runs live. */
import type { Cluster } from '../core/cluster.ts';
import type { AttemptId } from '../model/ids.ts';
import { loadCluster } from '../store/load.ts';
import type { Store } from '../store/store.ts';
import type { OutputLengths } from './http-workers.ts';
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
  const outputLengths = await outputLengthsOf(cluster, store);
  const versionAtStart = await store.lastChange();
  const { generation } = store;
  const [tokens, answers] = [await store.tokens(), await store.answers()];
  const [notices, fingerprints] = [await store.notices(), await store.fingerprints()];
  const workers = [...cluster.liveWorkers.values()];
  const facts = {
    workflows: cluster.workflows.size,
    tasks: cluster.tasks.size,
    liveAttempts: workers.reduce((sum, { attempts }) => sum + attempts.size, 0),
    workers: workers.length,
    tookMs: Math.round(clock.now() - begunAt),
  };
  log.info(facts, 'recovered from the store');
  const kept = { tokens, answers, notices, fingerprints };
  const found = { cluster, outputEnd, outputLengths, generation, versionAtStart, ...kept };
  return new ControllerShell(world, { ...found, scheduler, settings }, phases);
}

/** Of what workers over HTTP run: they go on appending where they were. */
async function outputLengthsOf(cluster: Cluster, store: Store): Promise<Map<AttemptId, OutputLengths>> {
  const lengths = new Map<AttemptId, OutputLengths>();
  for (const { kind, attempts } of cluster.liveWorkers.values()) {
    if (kind === 'native') continue;
    for (const attempt of attempts) {
      const found: OutputLengths = { stdout: 0, stderr: 0 };
      for (const { stream, offset, length } of await store.outputPieces(attempt)) {
        found[stream] = Math.max(found[stream], offset + length);
      }
      lengths.set(attempt, found);
    }
  }
  return lengths;
}
