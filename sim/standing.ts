/**
 * The invariants that are about how a worker stands with its controller, compared at the same moment on both sides.
 *
 * Owns: who had to die, and whether the controller was waiting.
 */
import type { ControllerShell } from '../src/controller/shell.ts';
import type { WorkerRecord } from '../src/core/worker.ts';
import { isHeldByWorker } from '../src/model/states.ts';
import type { Parts } from './parts.ts';
import type { Past } from './past.ts';
import type { WorkerHost } from './worker-host.ts';

export class Standing {
  readonly #world: Parts;
  readonly #past: Past;
  readonly #hosts: ReadonlyMap<string, WorkerHost>;
  #shell: ControllerShell | undefined;
  readonly #condemned = new Set<WorkerRecord>();
  #wasWaiting = false;

  constructor(world: Parts, past: Past) {
    this.#world = world;
    this.#past = past;
    this.#hosts = new Map(world.hosts.map((host) => [host.machine, host]));
  }

  /** After a step of the controller. */
  check(shell: ControllerShell): void {
    if (this.#shell !== shell) {
      this.#shell = shell;
      this.#condemned.clear();
      this.#wasWaiting = false;
    }
    for (const worker of this.#condemned) this.#checkCondemned(worker);
    for (const worker of shell.controller.cluster.liveWorkers.values()) this.#noteCondemned(worker);
    this.#checkWait(shell);
  }

  /** 8: of one worker that something was heard of. */
  checkWorker({ controller: { cluster } }: ControllerShell, worker: WorkerRecord): void {
    const { kernel } = this.#world;
    for (const id of worker.attempts) {
      const record = cluster.attempts.get(id);
      if (record?.worker !== worker.id || record.state === 'ended') {
        kernel.fail('8', `attempt ${id} is ${record?.state ?? 'over'}, and on the list of k${worker.id}`);
      } else if (!isHeldByWorker(cluster.tasks.state(record.task))) {
        kernel.fail('8', `attempt ${id} is ${record.state}, and its task ${cluster.tasks.state(record.task)}`);
      }
    }
  }

  #noteCondemned(worker: WorkerRecord): void {
    if (worker.state !== 'must-die' || this.#condemned.has(worker)) return;
    this.#condemned.add(worker);
    this.#checkDeath(worker);
  }

  /** 7: on the whole. */
  checkUnsure({ controller: { cluster } }: ControllerShell): void {
    for (const [id, { state, worker }] of cluster.attempts) {
      if (state !== 'unsure' || cluster.workers.get(worker)?.attempts.has(id)) continue;
      this.#world.kernel.fail('7', `attempt ${id} is unsure and does not count as running`);
    }
  }

  /** 12: by its own count it must die before; unless another displaced it, or it never had an answer, and so runs nothing. */
  #checkDeath({ id, instance, host: machine, ailment = '' }: WorkerRecord): void {
    const host = this.#hosts.get(machine);
    const isCounting = host?.instance === instance && host.isServing && !host.process.isSuspended;
    if (!isCounting || host.excused.has(instance) || !ailment.startsWith('it was not healthy')) return;
    const own = host.shell?.worker.health.health(host.now);
    const isAssociated = host.shell?.worker.health.worker !== undefined;
    if (own === undefined || own.state === 'must-die' || !isAssociated) return;
    this.#world.kernel.fail('12', `k${id} must die (${ailment}), and ${machine} takes itself for ${own.state}`);
  }

  /** 13: for good. */
  #checkCondemned(worker: WorkerRecord): void {
    if (worker.state === 'gone') this.#condemned.delete(worker);
    else if (worker.state !== 'must-die') {
      this.#world.kernel.fail('13', `k${worker.id} had to die, and is ${worker.state}`);
    }
  }

  /** 15: when the wait is over, whoever runs something has said what it runs, or is known to be absent. */
  #checkWait(shell: ControllerShell): void {
    const { sessions } = shell.controller;
    const isWaiting = sessions.isWaiting(shell.now());
    const isOver = this.#wasWaiting && !isWaiting;
    this.#wasWaiting = isWaiting;
    if (isOver) this.checkKnown(shell, 'the wait is over');
  }

  /** 15: also where no wait was held to be needed. */
  checkKnown({ controller: { cluster } }: ControllerShell, what: string): void {
    const known = new Set([...cluster.liveWorkers.values()].map(({ instance }) => instance));
    for (const { attempt, instance, machine, startedAt } of this.#world.truth.live) {
      const isExcused =
        this.#hosts.get(machine)?.excused.has(instance) ||
        this.#past.excuses(startedAt) ||
        this.#past.isUnheardOf(instance);
      if (known.has(instance) || isExcused) continue;
      this.#world.kernel.fail('15', `${what}, and attempt ${attempt} runs on ${machine}, which is not known`);
    }
  }
}
