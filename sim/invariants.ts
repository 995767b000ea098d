/**
 * The invariants of PROTOCOL.md, by their numbers, against what really runs and what is really on the disk.
 *
 * Owns: which attempts were sent and acknowledged, and what each worker held after its last step.
 */
import type { ControllerShell } from '../src/controller/shell.ts';
import type { Change } from '../src/core/change.ts';
import type { Cluster } from '../src/core/cluster.ts';
import { checkInvariants } from '../src/core/invariants.ts';
import { type Demand, demandOf, fits, isOver, Load, slotParts } from '../src/core/resources/room.ts';
import { prefetchOf } from '../src/core/scheduler/placement.ts';
import type { WorkerRecord } from '../src/core/worker.ts';
import { attemptId } from '../src/model/ids.ts';
import { plainNeed } from '../src/model/need.ts';
import { isEndedWorkflow } from '../src/model/states.ts';
import type { Order } from '../src/protocol/worker.ts';
import type { Batch } from '../src/store/store.ts';
import type { WorkerShell } from '../src/worker/shell.ts';
import type { Frame, Message, Side } from './net.ts';
import type { Parts } from './parts.ts';
import { Past } from './past.ts';
import type { Process } from './process.ts';
import { Standing } from './standing.ts';
import { Talk } from './talk.ts';
import type { RealProcess } from './truth.ts';
import type { WorkerHost } from './worker-host.ts';
import { licence, licencesMax } from './workload.ts';

/** Steps between two looks at everything. */
const wholeEvery = 1_000;

/** Messages that are looked into when they are sent. */
const watched: ReadonlySet<string> = new Set(['run', 'ack', 'notify', 'update']);

interface Held {
  readonly shell: WorkerShell;
  readonly attempts: Set<number>;
}

export class Checks {
  readonly #world: Parts;
  readonly #hosts: ReadonlyMap<string, WorkerHost>;
  /** What each takes of its worker. */
  readonly #sent = new Map<number, Demand>();
  /** Ends that the controller has acknowledged. */
  readonly #acknowledged = new Set<number>();
  readonly #held = new Map<WorkerHost, Held>();
  /** What the step that goes on has acknowledged to its worker. */
  readonly #released = new Set<number>();
  readonly #touched = new Set<WorkerHost>();
  /** Which instance sent an update: it may be gone when it arrives. */
  readonly #senders = new WeakMap<Frame, string>();
  #licencesUsed = 0;
  readonly #past: Past;
  readonly #talk: Talk;
  readonly #standing: Standing;

  constructor(world: Parts) {
    this.#world = world;
    this.#past = new Past(world);
    this.#talk = new Talk(world);
    this.#standing = new Standing(world, this.#past);
    this.#hosts = new Map(world.hosts.map((host) => [host.machine, host]));
  }

  afterStep(process: Process): void {
    const { kernel, controller } = this.#world;
    const host = this.#hosts.get(process.machine);
    if (host !== undefined && process === host.process) this.#checkHeld(host);
    if (process === controller.process) {
      this.#checkTouched();
    }
    if (kernel.steps % wholeEvery === 0) this.checkEverything();
  }

  #checkTouched(): void {
    const { shell } = this.#world.controller;
    for (const touched of this.#touched) {
      this.#checkKnown(touched);
      const worker = this.#workerOf(touched.instance);
      if (worker !== undefined && shell !== undefined) this.#standing.checkWorker(shell, worker);
    }
    this.#touched.clear();
    if (shell !== undefined) {
      this.#checkLimits(shell);
      this.#standing.check(shell);
    }
  }

  checkEverything(): void {
    const { controller, kernel, hosts } = this.#world;
    for (const host of hosts) this.#checkKnown(host);
    const { shell } = controller;
    if (shell === undefined) return;
    for (const worker of shell.controller.cluster.liveWorkers.values()) this.#standing.checkWorker(shell, worker);
    this.#standing.checkUnsure(shell);
    try {
      checkInvariants(shell.controller.cluster);
    } catch (error) {
      kernel.fail('core', String((error as Error).message));
    }
  }

  onSend(side: Side, frame: Frame): void {
    const host = this.#hosts.get((side.isServer ? side.peer : side)?.process.machine ?? '');
    if (!frame.types.some((type) => watched.has(type))) return;
    for (const message of frame.messages) {
      if (message.t === 'run') this.#checkRun(message, side);
      if (message.t === 'notify') this.#talk.onNotify(message);
      if (message.t === 'update' && host !== undefined) this.#onUpdateSent(message, frame, host);
      if (message.t === 'ack' && host !== undefined) this.#checkAck(message, host);
    }
  }

  onDelivered(side: Side, frame: Frame): void {
    const host = this.#hosts.get((side.isServer ? side.peer : side)?.process.machine ?? '');
    if (host !== undefined) this.#touched.add(host);
    if (side.isServer) return this.#onHeard(frame);
    if (!frame.types.includes('ack')) return;
    for (const message of frame.messages) {
      if (message.t === 'ack') for (const id of message.attempts as number[]) this.#released.add(id);
    }
  }

  #onUpdateSent(message: Message, frame: Frame, { instance }: WorkerHost): void {
    this.#senders.set(frame, instance);
    this.#talk.onUpdateSent(message, instance);
  }

  #onHeard(frame: Frame): void {
    const hears = (type: string): boolean => frame.types.includes(type);
    if (!hears('update') && !(this.#past.hasRestore && hears('heartbeat'))) return;
    for (const message of frame.messages) {
      if (message.t === 'heartbeat') this.#past.onHeartbeat(message);
      if (message.t === 'update') this.#talk.onUpdateDelivered(message, this.#senders.get(frame) ?? '');
    }
  }

  /** 1, 9, 16: an attempt is sent once, durable, to a healthy worker that has room, and not while all wait. */
  #checkRun(message: Message, side: Side): void {
    const { kernel, disk, controller } = this.#world;
    const { shell } = controller;
    const worker = this.#workerOf(String(message.instance));
    this.#talk.onRun(message);
    this.#past.onRun();
    if (shell?.controller.sessions.isWaiting(shell.now())) kernel.fail('9', 'something is sent in the initial wait');
    if (shell !== undefined) this.#standing.checkKnown(shell, 'something is sent');
    for (const { attempt, need } of message.orders as Order[]) {
      if (this.#sent.has(attempt)) kernel.fail('1', `attempt ${attempt} is sent twice`);
      const demand = demandOf({ ...plainNeed, ...need });
      this.#sent.set(attempt, demand);
      if (worker !== undefined) this.#checkRoom(worker, demand);
      if (!disk.attempts.has(attempt)) kernel.fail('1', `attempt ${attempt} is sent before it is durable`);
      const isKnown = controller.shell === undefined || worker?.state === 'healthy';
      if (!isKnown) kernel.fail('9', `attempt ${attempt} is sent to a worker that is ${worker?.state} #${side.link}`);
    }
  }

  /** 16: of what it takes itself. Of something else there may be too much, that was sent ahead when tasks were shorter. */
  #checkRoom(worker: WorkerRecord, demand: Demand): void {
    const { needs, attempts } = this.#world.controller.shell?.controller.cluster ?? {};
    const others = new Load();
    for (const id of worker.attempts) others.add(needs?.demand(attempts?.get(id)?.need ?? 0) ?? demand);
    others.remove(demand);
    if (fits(worker.room, others, demand, prefetchOf(worker))) return;
    const [slots, held] = [worker.slots, worker.attempts.size];
    this.#world.kernel.fail(
      '16',
      `k${worker.id} has ${slots} slots and ${held} attempts, and gets ${JSON.stringify(demand)}`,
    );
  }

  /** 17: what is acknowledged is durable. */
  #checkAck(message: Message, host: WorkerHost): void {
    const { kernel, disk } = this.#world;
    const worker = this.#workerOf(host.instance);
    for (const id of message.attempts as number[]) {
      const row = disk.attempts.get(id);
      if (row === undefined || row.worker !== worker?.id) continue;
      if (row.outcome === undefined) kernel.fail('17', `the end of attempt ${id} is acknowledged, and not durable`);
      this.#acknowledged.add(id);
    }
  }

  /** 1, 2, 16: starts once, alone, known to the controller, where there is room for it. What was not sent is a check of the worker's own. */
  onStart(process: RealProcess, others: readonly RealProcess[]): void {
    const { kernel, truth } = this.#world;
    if (process.isLicensed) this.#checkLicences();
    const host = this.#hosts.get(process.machine);
    if (host === undefined) return this.#checkAlone(process, others);
    if (!this.#sent.has(process.attempt)) return;
    this.#talk.onStart(process);
    this.#checkAlone(process, others);
    const load = new Load();
    for (const { attempt } of truth.ofInstance(process.instance)) {
      const demand = this.#sent.get(attempt);
      if (demand !== undefined) load.add(demand);
    }
    if (isOver(host.room, load)) {
      const taken = `${load.cpus / slotParts} cpus, ${load.memoryBytes} bytes, ${load.gpus} GPUs`;
      kernel.fail('16', `what runs on ${host.machine} takes ${taken} and ${JSON.stringify([...load.pools])}`);
    }
    this.#checkKnown(host);
  }

  /** No more run than there were ever licences; of a store that was restored the limit may be another. */
  #checkLicences(): void {
    const { kernel, truth } = this.#world;
    if (this.#past.hasRestore) return;
    let running = 0;
    for (const { isLicensed, machine, instance } of truth.live) {
      if (isLicensed && !this.#hosts.get(machine)?.excused.has(instance)) running++;
    }
    if (running > licencesMax) kernel.fail('limits', `${running} tasks run with a licence, of ${licencesMax} at most`);
  }

  /** Of what is over its limit no more is in use than after the turn before. */
  #checkLimits({ controller: { cluster } }: ControllerShell): void {
    const { max = Number.POSITIVE_INFINITY, used } = cluster.limits.get(licence);
    if (used > max && used > this.#licencesUsed) {
      this.#world.kernel.fail(
        'limits',
        `${used} licences are in use, of ${max}, and ${this.#licencesUsed} were before`,
      );
    }
    this.#licencesUsed = used;
  }

  #checkAlone(process: RealProcess, others: readonly RealProcess[]): void {
    const rival = others.find(
      ({ machine, instance, startedAt }) =>
        !this.#hosts.get(machine)?.excused.has(instance) && !this.#past.excuses(startedAt),
    );
    if (rival === undefined) return;
    const name = `attempt ${process.attempt} of ${process.task}`;
    this.#world.kernel.fail(
      '1',
      `${name} starts on ${process.machine} while attempt ${rival.attempt} lives on ${rival.machine}`,
    );
  }

  onCommit({ changes }: Batch): void {
    this.#talk.onCommit(changes);
    for (const change of changes) {
      if (change.type === 'attempt-ended') this.#checkEnd(change);
      if (change.type === 'worker-gone') this.#checkGone(change);
      if (change.type === 'worker-joined') this.#past.onJoined(change.instance);
    }
  }

  /** 11: an end changes something once; only one that was given up for lost may be corrected. */
  #checkEnd(change: Extract<Change, { type: 'attempt-ended' }>): void {
    const { kernel, disk } = this.#world;
    const { attempt } = change;
    this.#talk.onEnd(change);
    const outcome = disk.attempts.get(attempt)?.outcome;
    if (outcome !== undefined && outcome.kind !== 'lost') kernel.fail('11', `attempt ${attempt} ends again`);
    if (change.outcome.kind === 'lost') this.#checkLease(attempt);
  }

  /** 14: also of a single one whose lease ended. */
  #checkLease(attempt: number): void {
    const { kernel, truth } = this.#world;
    for (const { attempt: live, machine } of truth.live) {
      if (live !== attempt || this.#hosts.has(machine)) continue;
      kernel.fail('14', `the lease of attempt ${attempt} ended while it runs on ${machine}`);
    }
  }

  /** 12, 14: when the controller gives a worker up, and repeats its tasks, all that it ran is dead. */
  #checkGone({ worker, why }: Extract<Change, { type: 'worker-gone' }>): void {
    const { kernel, truth, controller } = this.#world;
    const record = controller.shell?.controller.cluster.workers.get(worker);
    const host = this.#hosts.get(record?.host ?? '');
    if (record === undefined || host?.excused.has(record.instance)) return;
    const [alive] = truth.ofInstance(record.instance);
    if (alive !== undefined) {
      kernel.fail('14', `k${worker} is given up (${why}) while its attempt ${alive.attempt} runs on ${alive.machine}`);
    }
  }

  /** 2: what runs on a worker that the controller counts on is known to run there. */
  #checkKnown(host: WorkerHost): void {
    const { kernel, truth } = this.#world;
    const live = truth.ofInstance(host.instance);
    if (live.size === 0) return;
    const worker = this.#workerOf(host.instance);
    if (worker?.state !== 'healthy') return;
    for (const { attempt, startedAt } of live) {
      const isKnown =
        startedAt < this.#past.restoredAt || !this.#sent.has(attempt) || worker.attempts.has(attemptId(attempt));
      if (!isKnown) kernel.fail('2', `attempt ${attempt} runs on ${host.machine}, which the controller does not know`);
    }
  }

  /** 3: what a worker has accepted it keeps until the end was acknowledged. */
  #checkHeld(host: WorkerHost): void {
    const { shell } = host;
    const before = this.#held.get(host);
    if (shell === undefined) this.#held.delete(host);
    else if (before?.shell !== shell) this.#held.set(host, { shell, attempts: new Set(shell.worker.held.keys()) });
    else {
      const { attempts } = before;
      for (const attempt of attempts) {
        if (shell.worker.held.has(attempt)) continue;
        attempts.delete(attempt);
        if (!this.#released.has(attempt)) {
          this.#world.kernel.fail('3', `${host.machine} forgot attempt ${attempt} before its end was acknowledged`);
        }
      }
      for (const attempt of shell.worker.held.keys()) attempts.add(attempt);
    }
    this.#released.clear();
  }

  /** 17: whatever was acknowledged is there again. */
  onRecovered({ controller: { cluster } }: ControllerShell): void {
    this.#licencesUsed = cluster.limits.get(licence).used;
    const { kernel, clients } = this.#world;
    for (const id of this.#acknowledged) {
      const record = cluster.attempts.get(attemptId(id));
      if (record !== undefined && record.state !== 'ended') kernel.fail('17', `the end of attempt ${id} was forgotten`);
    }
    for (const client of clients) this.checkAcknowledged(client.acknowledged, cluster);
  }

  checkAcknowledged(all: Parts['clients'][number]['acknowledged'], cluster: Cluster): void {
    const { kernel } = this.#world;
    for (const { workflow, name, tasks, isClosed, isCancelled } of all) {
      const record = cluster.workflows.get(workflow);
      if (record === undefined) return kernel.fail('17', `w${workflow} of ${name} was acknowledged, and is not there`);
      if (record.size < tasks) kernel.fail('17', `w${workflow} has ${record.size} of its ${tasks} tasks`);
      const isReopened = record.state === 'registering' || record.open;
      if (isClosed && isReopened) kernel.fail('17', `w${workflow} was closed and is ${record.state}`);
      const goesOn = !isEndedWorkflow(record.state) && record.stop === undefined;
      if (isCancelled && goesOn) kernel.fail('17', `w${workflow} was cancelled and is ${record.state}`);
    }
  }

  onTurn(): void {
    this.#past.onTurn();
  }

  onRestored(): void {
    const { disk, clients } = this.#world;
    this.#past.onRestored();
    this.#talk.onRestored();
    for (const client of clients) client.acknowledged = [];
    for (const id of this.#sent.keys()) if (id > disk.lastAttempt) this.#sent.delete(id);
    for (const id of this.#acknowledged) {
      if (disk.attempts.get(id)?.outcome === undefined) this.#acknowledged.delete(id);
    }
  }

  #workerOf(instance: string): WorkerRecord | undefined {
    const workers = this.#world.controller.shell?.controller.cluster.workers.values() ?? [];
    for (const worker of workers) if (worker.instance === instance) return worker;
    return undefined;
  }
}
