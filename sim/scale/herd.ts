/**
 * A controller's reactor with any number of workers that answer at once, on a clock that only this moves. What a step
 * would make durable is let go: what is measured is the reactor, and nothing in it may grow with the number of tasks,
 * workers or workflows.
 *
 * 1. Only the steps are measured, not the workers.
 * 2. A step takes what has come meanwhile: at most `messagesPerStep`, whoever they are of.
 */
import type { Effect, Input, Launch, Reply, Request } from '../../src/controller/messages.ts';
import { Controller, defaultSettings } from '../../src/controller/reactor.ts';
import { Cluster } from '../../src/core/cluster.ts';
import { assert } from '../../src/model/errors.ts';
import type { WorkflowId } from '../../src/model/ids.ts';
import { submitTasksMax } from '../../src/model/limits.ts';
import { presets } from '../../src/model/timeouts.ts';
import type { AttemptEnd, FromWorker, ToWorker } from '../../src/protocol/worker.ts';
import { workerProtocolVersion } from '../../src/protocol/worker.ts';

export interface Size {
  readonly workers: number;
  readonly tasks: number;
  readonly workflows: number;
  /** How many come together, about; 128 when absent. */
  readonly messagesPerStep?: number;
}

const scheduler = 'c';
const slots = 4;
/** As long as a task seems to take: as many attempts as there are slots are sent ahead. */
const wallMs = 100;
/** By the virtual clock: heartbeats and health checks come as often as they would at this rate. */
const tasksPerMs = 20;
const noOutput = { bytes: 0, tail: '' };

class VirtualWorker {
  readonly link: number;
  readonly instance: string;
  held: number[] = [];
  beat = 0;

  constructor(number: number) {
    this.link = number;
    this.instance = `${number}-x`;
  }

  heartbeat(): FromWorker {
    const name = `s${this.link}`;
    const worker = { shard: name, lock: name, instance: this.instance, host: name, pid: 1 };
    return { t: 'heartbeat', version: workerProtocolVersion, beat: ++this.beat, worker, slots };
  }
}

export class ScaledHerd {
  /** Of the steps. */
  cpuMs = 0;
  steps = 0;
  ended = 0;
  readonly #controller: Controller;
  readonly #workers: readonly VirtualWorker[];
  readonly #workflows: readonly WorkflowId[];
  readonly #messagesPerStep: number;
  /** What was said and not taken yet. */
  #inbox: Input[] = [];
  /** Whoever has something to report. */
  #busy = new Set<VirtualWorker>();
  #replies: Reply[] = [];
  #now = 1_000_000;
  #nextBeats: number;
  #beating = 0;

  constructor({ workers, tasks, workflows, messagesPerStep = 128 }: Size) {
    this.#messagesPerStep = messagesPerStep;
    const settings = { ...defaultSettings, timeouts: presets.cluster };
    const lineage = { scheduler, generation: 'g', versionAtStart: 0 };
    const outputEnd = { file: 0, length: 0 };
    this.#controller = new Controller({ cluster: new Cluster(), outputEnd, settings, ...lineage });
    this.#nextBeats = this.#now;
    this.#workers = Array.from({ length: workers }, (_, offset) => new VirtualWorker(offset + 1));
    for (const worker of this.#workers) this.#hear(worker, worker.heartbeat());
    this.#takeAll();
    this.#workflows = Array.from({ length: workflows }, () => this.#submit(Math.ceil(tasks / workflows)));
    this.cpuMs = 0;
    this.steps = 0;
  }

  /** Lets the tasks go; every worker ends what it has, and gets more, until nothing is left. */
  run(): void {
    for (const workflow of this.#workflows) this.#ask({ type: 'close', workflow });
    while (this.#busy.size > 0) {
      const [worker] = this.#busy;
      assert(worker !== undefined, 'somebody is busy');
      this.#busy.delete(worker);
      this.#report(worker);
      if (this.#inbox.length >= this.#messagesPerStep || this.#busy.size === 0) this.#takeAll();
    }
  }

  #report(worker: VirtualWorker): void {
    const attempts = worker.held;
    worker.held = [];
    this.#hear(worker, { t: 'accepted', attempts });
    const usage = { wallMs, cpuMs: 1 };
    const endOf = (attempt: number): AttemptEnd => ({
      ...{ attempt, outcome: { kind: 'succeeded' }, startedAt: this.#now, usage, stdout: noOutput, stderr: noOutput },
    });
    this.#hear(worker, { t: 'update', scheduler, ends: attempts.map(endOf) });
    this.ended += attempts.length;
    this.#pass(attempts.length / tasksPerMs);
  }

  /** Heartbeats are spread evenly over their interval. */
  #pass(ms: number): void {
    this.#now += ms;
    const everyMs = presets.cluster.heartbeatMs / this.#workers.length;
    for (; this.#nextBeats <= this.#now; this.#nextBeats += everyMs) {
      const worker = this.#workers[this.#beating++ % this.#workers.length];
      if (worker !== undefined) this.#hear(worker, worker.heartbeat());
    }
  }

  #hear({ link }: VirtualWorker, message: FromWorker): void {
    this.#inbox.push({ type: 'link-message', link, message });
  }

  #submit(tasks: number): WorkflowId {
    const { cwd, shell, env } = { cwd: '/', shell: '/bin/sh', env: {} };
    const rules = { maxAttempts: 1, terminationMs: 1_000, failFast: false, open: false };
    const reply = this.#ask({ type: 'register', spec: { cwd, shell, env, ...rules } });
    assert(reply?.type === 'registered', 'a workflow is registered');
    for (let left = tasks; left > 0; left -= submitTasksMax) this.#extend(reply.workflow, left);
    return reply.workflow;
  }

  #extend(workflow: WorkflowId, left: number): void {
    const tasks = Array.from({ length: Math.min(left, submitTasksMax) }, () => ({ command: 'true' }));
    this.#ask({ type: 'extend', workflow, batch: { tasks, edges: [] } });
  }

  #ask(request: Request): Reply | undefined {
    this.#inbox.push({ type: 'request', ticket: 1, request });
    this.#takeAll();
    return this.#replies.pop();
  }

  #takeAll(): void {
    let isUnfinished = true;
    while (this.#inbox.length > 0 || isUnfinished) {
      const inputs = this.#inbox;
      this.#inbox = [];
      const before = process.cpuUsage();
      const result = this.#controller.step(inputs, Math.floor(this.#now));
      const { user, system } = process.cpuUsage(before);
      this.cpuMs += (user + system) / 1_000;
      this.steps++;
      isUnfinished = result.isUnfinished;
      for (const effect of result.effects) this.#perform(effect);
    }
  }

  #perform(effect: Effect): void {
    if (effect.type === 'reply') this.#replies.push(effect.reply);
    else if (effect.type === 'run') this.#onOrders(this.#worker(effect.link), effect.attempts);
    else if (effect.type === 'send') this.#onMessage(this.#worker(effect.link), effect.message);
    else assert(effect.type === 'log' && effect.level === 'info', `nothing goes wrong: ${JSON.stringify(effect)}`);
  }

  #worker(link: number): VirtualWorker {
    const worker = this.#workers[link - 1];
    assert(worker !== undefined, `there is a worker on link ${link}`);
    return worker;
  }

  #onOrders(worker: VirtualWorker, launches: readonly Launch[]): void {
    for (const { attempt } of launches) worker.held.push(attempt);
    this.#busy.add(worker);
  }

  #onMessage(worker: VirtualWorker, message: ToWorker): void {
    const { instance } = worker;
    if (message.t === 'get-running') this.#hear(worker, { t: 'running', scheduler, instance, seq: 0, attempts: [] });
    if (message.t !== 'check') return;
    this.#hear(worker, { t: 'checked', scheduler, instance, check: message.check, isGood: true });
  }
}
