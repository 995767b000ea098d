/**
 * The invariants that are about messages: what was said holds.
 *
 * Owns: the numbers of orders and questions, what workers said that they don't have, ends that the controller was told.
 */
import type { Change } from '../src/core/change.ts';
import { workerId } from '../src/model/ids.ts';
import type { Message } from './net.ts';
import type { Parts } from './parts.ts';
import type { RealProcess } from './truth.ts';

interface End {
  readonly attempt: number;
  readonly outcome: { readonly kind: string; readonly why?: string };
}

/** Ends that a controller finds by itself: of a worker that is dead, or that has told all that it runs. */
const isOwnFinding = ({ kind, why }: End['outcome']): boolean =>
  kind === 'lost' || (kind === 'never-started' && why === 'not-running');

export class Talk {
  readonly #world: Parts;
  /** By controller and instance: the number of the last question. */
  readonly #asked = new Map<string, number>();
  /** By attempt: who ordered it, and with which number. */
  readonly #orders = new Map<number, { readonly scheduler: string; readonly seq: number }>();
  /** By controller, instance and attempt. */
  readonly #denied = new Set<string>();
  readonly #started = new Set<string>();
  /** By controller and attempt: after a restore another one may give out an id again. */
  readonly #starts = new Map<string, number>();
  /** Of which task an attempt is, and which is a task's last. */
  readonly #tasks = new Map<number, number>();
  readonly #last = new Map<number, number>();
  /** By controller, attempt and instance: of which ends it was told. */
  readonly #told = new Set<string>();

  constructor(world: Parts) {
    this.#world = world;
  }

  /** 5: questions are numbered upwards, higher than the orders that they are about; orders never go back. */
  onNotify({ scheduler, instance, seq, attempts }: Message): void {
    const key = `${scheduler} ${instance}`;
    const last = this.#asked.get(key) ?? 0;
    this.#asked.set(key, Number(seq));
    const { kernel } = this.#world;
    if (Number(seq) <= last) kernel.fail('5', `notify ${seq} to ${instance} follows ${last}`);
    for (const attempt of attempts as number[]) {
      const order = this.#orders.get(attempt);
      if (order === undefined || order.scheduler !== scheduler || order.seq < Number(seq)) continue;
      kernel.fail('5', `notify ${seq} asks about attempt ${attempt}, sent with ${order.seq}`);
    }
  }

  onRun({ scheduler, instance, seq, orders }: Message): void {
    const last = this.#asked.get(`${scheduler} ${instance}`) ?? 0;
    if (Number(seq) < last) this.#world.kernel.fail('5', `an order with ${seq} follows notify ${last} to ${instance}`);
    for (const { attempt } of orders as { attempt: number }[]) {
      this.#orders.set(attempt, { scheduler: String(scheduler), seq: Number(seq) });
    }
  }

  /** 6: what is said never to have started never did. */
  onUpdateSent({ scheduler, ends }: Message, instance: string): void {
    for (const { attempt, outcome } of ends as End[]) {
      if (outcome.kind !== 'never-started') continue;
      const key = `${scheduler} ${instance} ${attempt}`;
      this.#denied.add(key);
      if (this.#started.has(key)) {
        this.#world.kernel.fail('6', `${instance} says that attempt ${attempt} never started (${outcome.why})`);
      }
    }
  }

  onUpdateDelivered({ scheduler, ends }: Message, instance: string): void {
    for (const { attempt } of ends as End[]) this.#told.add(`${scheduler} ${attempt} ${instance}`);
  }

  /** 1, 4, 6: what was ordered starts once, and what was denied never does. */
  onStart({ attempt, instance, task }: RealProcess): void {
    const order = this.#orders.get(attempt);
    if (order === undefined) return;
    const { scheduler } = order;
    const starts = (this.#starts.get(`${scheduler} ${attempt}`) ?? 0) + 1;
    this.#starts.set(`${scheduler} ${attempt}`, starts);
    if (starts > 1) this.#world.kernel.fail('1', `attempt ${attempt} of ${task} starts for the ${starts}. time`);
    const key = `${scheduler} ${instance} ${attempt}`;
    this.#started.add(key);
    if (this.#denied.has(key)) {
      this.#world.kernel.fail(
        '4',
        `attempt ${attempt} of ${task} starts after ${instance} said that it does not have it`,
      );
    }
  }

  /** 11: an end of an attempt that its task has left behind changes nothing. */
  onCommit(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.type === 'attempt-recorded') {
        this.#tasks.set(change.attempt, change.task);
        this.#last.set(change.task, change.attempt);
      }
      if (change.type !== 'attempt-ended') continue;
      const last = this.#last.get(this.#tasks.get(change.attempt) ?? 0);
      if (last === undefined || last === change.attempt) continue;
      this.#world.kernel.fail('11', `an end of attempt ${change.attempt} is taken, and its task has attempt ${last}`);
    }
  }

  onRestored(): void {
    this.#tasks.clear();
    this.#last.clear();
  }

  /** 10: an end that is recorded was told by the process that has the attempt, once it was known what it runs. */
  onEnd({ attempt, outcome }: Extract<Change, { type: 'attempt-ended' }>): void {
    const { controller, kernel, disk, httpWorkers } = this.#world;
    const row = disk.attempts.get(attempt);
    const worker = controller.shell?.controller.cluster.workers.get(workerId(row?.worker ?? 0));
    if (isOwnFinding(outcome) || worker === undefined) return;
    if (worker.kind === 'http') {
      if (!httpWorkers.some(({ told }) => told.has(`${worker.id} ${attempt}`))) {
        kernel.fail('10', `the end of attempt ${attempt} (${outcome.kind}) was not told by k${worker.id}`);
      }
      return;
    }
    if (!this.#told.has(`${controller.process.name} ${attempt} ${worker.instance}`)) {
      kernel.fail('10', `the end of attempt ${attempt} (${outcome.kind}) was not told by ${worker.instance}`);
    }
    if (worker.facts.isNew && worker.state !== 'gone') {
      kernel.fail('10', `an end of attempt ${attempt} is taken from ${worker.instance}, which is new`);
    }
  }
}
