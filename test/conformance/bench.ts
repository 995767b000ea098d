/**
 * A real controller and real workers, joined by wires that the test holds: what is sent lies in a queue until it is
 * delivered, dropped with its link, or replayed. Time passes only when the test says so. After every step of the
 * controller its cluster is checked, and two promises are kept an eye on all the time: an attempt starts at most
 * once, and no task has two processes.
 */

import type { Effect, Input, Request, StepResult } from '../../src/controller/messages.ts';
import { Controller, type ControllerSettings, defaultSettings } from '../../src/controller/reactor.ts';
import { checkInvariants } from '../../src/core/invariants.ts';
import type { WorkerRecord } from '../../src/core/worker.ts';
import { assert } from '../../src/model/errors.ts';
import { type AttemptId, type TaskId, workflowId } from '../../src/model/ids.ts';
import type { FromWorker, ToWorker } from '../../src/protocol/worker.ts';
import { plainSpec } from '../controller/spec.ts';
import { Disk } from './disk.ts';
import { Host, type Wire } from './host.ts';

export type ToWorkerOf<T extends ToWorker['t']> = Extract<ToWorker, { readonly t: T }>;
export type FromWorkerOf<T extends FromWorker['t']> = Extract<FromWorker, { readonly t: T }>;

export class Bench {
  now = 1_000_000;
  disk = new Disk('g1');
  controller: Controller;
  scheduler = '';
  settings: ControllerSettings;
  readonly hosts: Host[] = [];
  /** Every attempt that ever had a process, in order. */
  readonly started: number[] = [];
  readonly #taskOf = new Map<number, number>();
  readonly #live = new Map<number, number>();
  #isUp = true;
  #controllers = 0;
  #links = 0;
  #instances = 0;

  constructor(settings: Partial<ControllerSettings> = {}) {
    this.settings = { ...defaultSettings, ...settings };
    this.controller = this.#newController();
  }

  get timeouts() {
    return this.settings.timeouts;
  }

  // The controller ------------------------------------------------------------------------------------------------

  #newController(): Controller {
    this.scheduler = `s${++this.#controllers}`;
    const { disk, scheduler, settings } = this;
    const start = {
      cluster: disk.load(this.now),
      scheduler,
      generation: disk.generation,
      versionAtStart: disk.changes,
      settings,
    };
    return new Controller({ ...start, outputEnd: { file: 0, length: 0 } });
  }

  /** It stops existing; links break, and what was on them is lost. */
  crash(): void {
    this.#isUp = false;
    for (const host of this.hosts) this.dropWire(host);
  }

  /** Another one begins from the disk. */
  restart(disk = this.disk): void {
    this.crash();
    this.disk = disk;
    this.#isUp = true;
    this.controller = this.#newController();
    this.step({ type: 'tick' });
  }

  step(...inputs: Input[]): StepResult {
    const result = this.controller.step(inputs, this.now);
    checkInvariants(this.controller.cluster);
    this.disk.commit(result);
    for (const effect of result.effects) this.#perform(effect);
    return result.isUnfinished ? this.step() : result;
  }

  submit(count = 1): void {
    const workflow = workflowId(this.controller.cluster.workflows.size + 1);
    const tasks = Array.from({ length: count }, (_, at) => ({ command: `task ${at + 1}` }));
    const requests: Request[] = [
      { type: 'register', spec: plainSpec },
      { type: 'extend', workflow, batch: { tasks, edges: [] } },
      { type: 'close', workflow },
    ];
    for (const request of requests) this.step({ type: 'request', ticket: 1, request });
  }

  #perform(effect: Effect): void {
    if (effect.type === 'send') this.#wire(effect.link)?.toWorker.push(structuredClone(effect.message));
    if (effect.type === 'close-link') {
      const host = this.hosts.find(({ wire }) => wire?.id === effect.link);
      // What was sent before it is read first.
      if (host?.wire !== undefined) for (const message of host.wire.toWorker.splice(0)) this.hand(host, message);
      if (host !== undefined) this.cut(host);
    }
    if (effect.type !== 'run') return;
    const orders = effect.attempts.map(({ attempt, task, number }) => {
      this.#taskOf.set(attempt, task);
      const { workflow, index, spec } = this.disk.definitions.get(task) ?? fail('a task is defined');
      return { attempt, task, number, workflow, index, command: spec.command ?? '' };
    });
    const { instance, seq } = effect;
    const specs = [...new Set(orders.map(({ workflow }) => workflow))].map((workflow) => ({
      workflow,
      spec: plainSpec,
    }));
    this.#wire(effect.link)?.toWorker.push({ t: 'run', scheduler: this.scheduler, instance, seq, specs, orders });
  }

  #wire(id: number): Wire | undefined {
    return this.hosts.find(({ wire }) => wire?.id === id)?.wire;
  }

  // Workers and links ---------------------------------------------------------------------------------------------

  /** A worker process that is not connected yet. Each is a newer instance; by default each has a shard of its own. */
  spawn(shard = `shard-${this.hosts.length + 1}`, { lock = `lock of ${shard}`, slots = 2, skewMs = 0 } = {}): Host {
    const instance = `${1_000 + ++this.#instances}-x`;
    const identity = { shard, lock, instance, host: 'h', pid: 1 };
    const host = new Host({ identity, slots, skewMs }, this.now, this);
    this.hosts.push(host);
    return host;
  }

  /** A healthy worker. */
  ready(...how: Parameters<Bench['spawn']>): Host {
    const host = this.spawn(...how);
    this.connect(host);
    this.flow();
    return host;
  }

  connect(host: Host): void {
    if (host.isDead || host.end !== undefined || !this.#isUp) return;
    this.cut(host);
    host.wire = { id: ++this.#links, toController: [], toWorker: [] };
    host.feed({ type: 'connected' }, this.now);
  }

  /** The link is lost for both, with all that was on it. */
  cut(host: Host): Wire | undefined {
    const { wire } = host;
    this.dropWire(host);
    if (wire !== undefined) this.step({ type: 'link-closed', link: wire.id });
    return wire;
  }

  /** The worker alone notices that its link is lost. */
  dropWire(host: Host): void {
    if (host.wire === undefined) return;
    host.wire = undefined;
    host.feed({ type: 'disconnected' }, this.now);
  }

  kill(host: Host): void {
    const { wire } = host;
    host.wire = undefined;
    host.finish();
    if (wire !== undefined) this.step({ type: 'link-closed', link: wire.id });
  }

  /** Delivers the next message in a direction; returns whether there was one. */
  deliver(host: Host, to: 'controller' | 'worker'): boolean {
    const { wire } = host;
    if (to === 'worker') {
      const message = wire?.toWorker.shift();
      if (message !== undefined) this.hand(host, message);
      return message !== undefined;
    }
    const message = wire?.toController.shift();
    if (wire === undefined || message === undefined) return false;
    this.say(wire.id, message);
    if (message.t === 'goodbye') this.cut(host);
    return true;
  }

  /** Delivers all in one direction that is there now, up to the first message of a kind if one is named. */
  deliverUntil(host: Host, to: 'controller' | 'worker', t?: string): void {
    const queue = () => (to === 'worker' ? host.wire?.toWorker : host.wire?.toController);
    for (let left = queue()?.length ?? 0; left > 0 && queue()?.[0]?.t !== t; left--) this.deliver(host, to);
  }

  /** Everything arrives, both ways, until nobody says any more. */
  flow(...hosts: Host[]): void {
    const all = hosts.length > 0 ? hosts : this.hosts;
    for (let rounds = 0; ; rounds++) {
      assert(rounds < 10_000, 'talk ends');
      const isAny = all.map((host) => this.deliver(host, 'controller') || this.deliver(host, 'worker')).includes(true);
      if (!isAny) return;
    }
  }

  /** Gives a worker a message, wherever it comes from. */
  hand(host: Host, message: ToWorker): void {
    host.feed({ type: 'message', message: structuredClone(message) }, this.now);
  }

  say(link: number, message: FromWorker): StepResult {
    return this.step({ type: 'link-message', link, message: structuredClone(message) });
  }

  // Time ----------------------------------------------------------------------------------------------------------

  /** Time passes; what is sent meanwhile arrives at once, except for those named, whose wires stand still. */
  pass(ms: number, ...stalled: Host[]): void {
    const until = this.now + ms;
    const flowing = this.hosts.filter((host) => !stalled.includes(host));
    while (this.now < until) {
      const deadlines = this.hosts.map((host) => host.nextDeadline(this.now));
      const next = Math.min(until, ...deadlines, this.#isUp ? this.controller.nextDeadline(this.now) : until);
      this.now = Math.max(next, this.now + 1);
      for (const host of this.hosts) if (host.nextDeadline(this.now) <= this.now) host.tick(this.now);
      if (this.#isUp) this.step({ type: 'tick' });
      if (flowing.length > 0) this.flow(...flowing);
    }
  }

  // What there is to see ------------------------------------------------------------------------------------------

  record(host: Host): WorkerRecord {
    for (const worker of this.controller.cluster.workers.values()) if (worker.instance === host.instance) return worker;
    return fail(`${host.instance} is known`);
  }

  knows(host: Host): boolean {
    return [...this.controller.cluster.workers.values()].some(({ instance }) => instance === host.instance);
  }

  health(host: Host): string {
    return host.worker.health.health(this.now + host.options.skewMs).state;
  }

  attempt(id: number): string {
    return this.controller.cluster.attempts.get(id as AttemptId)?.state ?? 'ended';
  }

  task(id: number): string {
    return this.controller.cluster.tasks.state(id as TaskId);
  }

  /** What lies on the way to a worker. */
  onWay(host: Host): readonly ToWorker['t'][] {
    return host.wire?.toWorker.map(({ t }) => t) ?? [];
  }

  onWayBack(host: Host): readonly FromWorker['t'][] {
    return host.wire?.toController.map(({ t }) => t) ?? [];
  }

  /** Takes a message off the way. */
  take<T extends ToWorker['t']>(host: Host, t: T): ToWorkerOf<T> {
    return takeFrom(host.wire?.toWorker, t) as ToWorkerOf<T>;
  }

  takeBack<T extends FromWorker['t']>(host: Host, t: T): FromWorkerOf<T> {
    return takeFrom(host.wire?.toController, t) as FromWorkerOf<T>;
  }

  // Witness -------------------------------------------------------------------------------------------------------

  onStart(_host: Host, attempt: number): void {
    assert(!this.started.includes(attempt), `attempt ${attempt} starts once`);
    this.started.push(attempt);
    const task = this.#taskOf.get(attempt) ?? attempt;
    assert(!this.#live.has(task), `task ${task} has no other process than ${this.#live.get(task)}`);
    this.#live.set(task, attempt);
  }

  onEnd(_host: Host, attempt: number): void {
    this.#live.delete(this.#taskOf.get(attempt) ?? attempt);
  }
}

function takeFrom<M extends { readonly t: string }>(queue: M[] | undefined, t: string): M {
  const at = queue?.findIndex((message) => message.t === t) ?? -1;
  const [message] = at === -1 ? [] : (queue?.splice(at, 1) ?? []);
  return message ?? fail(`${t} is on its way`);
}

function fail(what: string): never {
  throw new Error(`expected that ${what}`);
}
