/** What reaches the workers that hold attempts which must not go on. Exact attempts, so it may be repeated at will. */
import type { Cluster } from '../core/cluster.ts';
import type { AttemptId, WorkerId, WorkflowId } from '../model/ids.ts';
import type { HaltMode } from '../model/states.ts';
import type { KillWhy, ToWorker } from '../protocol/worker.ts';
import type { Effect, LinkId } from './messages.ts';

export class WorkerStops {
  readonly #cluster: Cluster;
  readonly #linkOf: (worker: WorkerId) => LinkId | undefined;

  constructor(cluster: Cluster, linkOf: (worker: WorkerId) => LinkId | undefined) {
    this.#cluster = cluster;
    this.#linkOf = linkOf;
  }

  kill(attempts: readonly AttemptId[], why: KillWhy, effects: Effect[]): void {
    this.#toHolders(attempts, (ids) => ({ t: 'kill', attempts: ids, why }), effects);
  }

  /** Draining takes back what has not started; killing ends all. */
  halt(workflow: WorkflowId, mode: HaltMode, effects: Effect[]): void {
    const live: AttemptId[] = [];
    for (const [id, { task, state }] of this.#cluster.attempts) {
      const isOurs = state !== 'ended' && this.#cluster.tasks.workflow(task) === workflow;
      if (isOurs) live.push(id);
    }
    if (mode === 'kill') return this.kill(live, 'halt', effects);
    this.retract(live, effects);
  }

  /** Takes back what has not started on a worker. */
  retractFrom(worker: WorkerId, effects: Effect[]): void {
    this.retract([...(this.#cluster.workers.get(worker)?.attempts ?? [])], effects);
  }

  /** Takes back those that have not started. */
  retract(attempts: readonly AttemptId[], effects: Effect[]): void {
    const unstarted = attempts.filter((id) => this.#cluster.attempts.get(id)?.state !== 'running');
    this.#toHolders(unstarted, (ids) => ({ t: 'retract', attempts: ids }), effects);
  }

  #toHolders(attempts: readonly AttemptId[], compose: (ids: AttemptId[]) => ToWorker, effects: Effect[]): void {
    const byLink = new Map<LinkId, AttemptId[]>();
    for (const id of attempts) {
      const worker = this.#cluster.attempts.get(id)?.worker;
      const link = worker === undefined ? undefined : this.#linkOf(worker);
      if (link === undefined) continue;
      const ids = byLink.get(link);
      if (ids === undefined) byLink.set(link, [id]);
      else ids.push(id);
    }
    for (const [link, ids] of byLink) effects.push({ type: 'send', link, message: compose(ids) });
  }
}
