/**
 * A worker over HTTP in the simulated world: it asks the controller as the API would for it, over a way on which requests
 * and answers are slow or get lost, and runs what it claims with a guard that keeps the promise of docs/API.md.
 *
 * Owns: what it runs, and until when each may live.
 * 1. A process starts only under a lease that was renewed for it, and is dead a margin before the end of that, by its
 *    own clock, counted from when the renewal was sent; whether the worker itself is alive does not matter.
 * 2. It names what it runs in its heartbeats; what it does not know it has is not renewed.
 */
import type { LeaseTerms, Reply, Request } from '../src/controller/messages.ts';
import type { EndReport } from '../src/core/task/ending.ts';
import { DroverError } from '../src/model/errors.ts';
import { type AttemptId, printAttempt, type TaskId, type WorkerId } from '../src/model/ids.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { TaskDefinition } from '../src/store/store.ts';
import type { ControllerHost } from './controller-host.ts';
import { type Fate, fateOf, natureOf, type TaskNature } from './fate.ts';
import type { HttpWorkerPlan } from './plan.ts';
import type { Event } from './process.ts';
import { Process } from './process.ts';
import type { Random } from './random.ts';
import type { RealProcess } from './truth.ts';
import type { HostContext } from './worker-host.ts';

const giveUpMs = 2_000;
const pauseMs = 300;
const restartMs = 1_500;
const silenceMsMax = 60_000;

interface Self {
  readonly worker: WorkerId;
  readonly instance: string;
}

interface Claim {
  readonly attempt: AttemptId;
  readonly task: TaskId;
  readonly number: number;
}

/** As its worker calls it. */
interface Named extends Claim {
  readonly name: string;
  readonly limitMs: number | undefined;
}

interface Running extends Named {
  readonly real: RealProcess;
  deadline: Event;
  isOver: boolean;
}

type Answer = { readonly reply: Reply } | { readonly refusal: DroverError } | undefined;
type End = Omit<EndReport, 'attempt' | 'worker'>;

export class HttpWorker {
  readonly plan: HttpWorkerPlan;
  readonly #context: HostContext;
  readonly #controller: ControllerHost;
  readonly #random: Random;
  /** It lives on when its worker has died, until all is dead. */
  readonly #guard: Process;
  readonly #running = new Map<AttemptId, Running>();
  /** Ends that it sent, by worker and attempt. */
  readonly told = new Set<string>();
  #lives = 0;
  isHealed = false;

  constructor(plan: HttpWorkerPlan, context: HostContext, controller: ControllerHost) {
    this.plan = plan;
    this.#context = context;
    this.#controller = controller;
    this.#random = context.random.fork(plan.name);
    this.#guard = new Process(`${plan.name}.guard`, plan.name);
    this.#begin(plan.startsAtMs);
  }

  #begin(afterMs: number): void {
    const { kernel } = this.#context;
    const process = new Process(`${this.plan.name}.${++this.#lives}`, this.plan.name, true);
    kernel.post(process, afterMs, 'begins', () => {
      this.#live(process).catch((error: unknown) => {
        if (process.isAlive) kernel.fail('18', `${this.plan.name}: ${String((error as Error).stack ?? error)}`);
      });
    });
  }

  async #live(process: Process): Promise<void> {
    for (;;) {
      const { name, slots } = this.plan;
      const joined = await this.#ask(process, { type: 'join-http', name, host: name, slots, owner: name });
      if (joined === undefined || !('reply' in joined) || joined.reply.type !== 'joined') {
        await this.#sleep(process, pauseMs);
        continue;
      }
      const { worker, heartbeatMs } = joined.reply;
      await this.#work(process, worker, heartbeatMs);
      // It was given up: so is all that it ran.
      this.#killAll('its worker was given up');
    }
  }

  /** Until the controller no longer knows it. */
  async #work(process: Process, worker: WorkerId, heartbeatMs: number): Promise<void> {
    for (;;) {
      if ((await this.#beat(process, worker)) === 'gone') return;
      await this.#claim(process, worker);
      await this.#sleep(process, heartbeatMs * this.#random.between(0.5, 1));
      if (this.isHealed || !this.#random.chance(this.plan.trouble)) continue;
      if (this.#random.chance(0.4)) return this.#die(process);
      await this.#sleep(process, this.#random.logarithmic(500, silenceMsMax));
    }
  }

  /** How long the lease holds from now on, or that there is none. */
  async #beat(process: Process, worker: WorkerId, extra?: Named): Promise<LeaseTerms | 'gone' | undefined> {
    const sentAt = this.#context.kernel.now;
    const attempts = [...this.#running.values(), ...(extra === undefined ? [] : [extra])];
    const answer = await this.#ask(process, { type: 'renew-leases', worker, attempts });
    if (answer === undefined) return undefined;
    if ('refusal' in answer) return answer.refusal.code === 'worker-unknown' ? 'gone' : undefined;
    if (answer.reply.type !== 'renewed') return undefined;
    const { cancel, leaseMs, marginMs, heartbeatMs } = answer.reply;
    const terms = { leaseMs: leaseMs - (this.#context.kernel.now - sentAt), marginMs, heartbeatMs };
    const orders = new Map(cancel.map(({ attempt, why }) => [attempt, why]));
    for (const running of [...this.#running.values()]) {
      const why = orders.get(running.name);
      if (why === undefined) this.#renewed(running, terms);
      else this.#stop(running);
      if (why === 'cancel' || why === 'halt') {
        void this.#tell(process, worker, running, { outcome: { kind: 'cancelled' } });
      }
    }
    return extra !== undefined && orders.has(extra.name) ? undefined : terms;
  }

  async #claim(process: Process, worker: WorkerId): Promise<void> {
    if (this.#running.size >= this.plan.slots) return;
    const most = this.#random.integer(1, this.plan.slots);
    const answer = await this.#ask(process, { type: 'claim-next', worker, most });
    if (answer === undefined || !('reply' in answer) || answer.reply.type !== 'claimed') return;
    const { claims } = answer.reply;
    const { shell } = this.#controller;
    if (shell === undefined) return;
    const definitions = await shell.store.definitions(claims.map(({ task }) => task));
    const instance = shell.controller.cluster.workers.get(worker)?.instance ?? '';
    for (const [at, claim] of claims.entries()) {
      const { workflow, index, spec } = definitions[at] as TaskDefinition;
      const limitMs = spec.timeoutMs ?? (await shell.store.workflowSpec(workflow))?.timeoutMs;
      const named = { ...claim, limitMs, name: printAttempt(workflow, index, claim.number) };
      await this.#start(process, { worker, instance }, named, natureOf(spec.command ?? ''));
    }
  }

  async #start(process: Process, self: Self, claim: Named, nature: TaskNature): Promise<void> {
    const { kernel, truth } = this.#context;
    const { worker, instance } = self;
    const terms = await this.#beat(process, worker, claim);
    if (terms === undefined || terms === 'gone' || terms.leaseMs <= terms.marginMs) return;
    const fate = fateOf(nature, claim.attempt, this.#random);
    if (fate.type === 'unstartable') {
      const { message } = fate.failure;
      return this.#tell(process, worker, claim, { outcome: { kind: 'never-started', why: 'unable', message } });
    }
    const real = {
      attempt: claim.attempt,
      task: nature.task,
      machine: this.plan.name,
      instance,
      startedAt: kernel.now,
      isLicensed: nature.isLicensed ?? false,
    };
    const deadline = this.#deadline(terms, () => running);
    const running: Running = { ...claim, real, deadline, isOver: false };
    this.#running.set(claim.attempt, running);
    truth.start(real);
    const isTooLong = claim.limitMs !== undefined && claim.limitMs < fate.ms;
    kernel.post(this.#guard, isTooLong ? claim.limitMs : fate.ms, `attempt ${claim.attempt} ends`, () => {
      if (running.isOver) return;
      this.#stop(running);
      const outcome: Outcome = isTooLong ? { kind: 'resource', resource: 'runtime' } : outcomeOf(fate);
      kernel.post(process, 0, 'tells of an end', () => void this.#tell(process, worker, claim, { outcome }));
    });
  }

  /** Until the controller has an opinion. */
  async #tell(process: Process, worker: WorkerId, { attempt, task, number }: Claim, end: End): Promise<void> {
    this.told.add(`${worker} ${attempt}`);
    for (let tries = 0; process.isAlive; tries++) {
      const answer = await this.#ask(process, { type: 'end-claimed', worker, task, number, end });
      if (answer !== undefined) return;
      await this.#sleep(process, pauseMs * Math.min(10, 1 + tries));
    }
  }

  #renewed(running: Running, terms: LeaseTerms): void {
    running.deadline.isCancelled = true;
    running.deadline = this.#deadline(terms, () => running);
  }

  /** By a clock that is wrong by a little. */
  #deadline({ leaseMs, marginMs }: LeaseTerms, of: () => Running): Event {
    const patienceMs = (leaseMs - marginMs) / (1 + this.plan.driftPpm / 1e6);
    return this.#context.kernel.post(this.#guard, patienceMs, 'a lease is nearly over', () => this.#stop(of()));
  }

  #stop(running: Running): void {
    if (running.isOver) return;
    running.isOver = true;
    running.deadline.isCancelled = true;
    this.#running.delete(running.attempt);
    this.#context.truth.end(running.real);
  }

  #killAll(why: string): void {
    if (this.#running.size > 0) this.#context.kernel.note(this.plan.name, `ends all: ${why}`);
    for (const running of [...this.#running.values()]) this.#stop(running);
  }

  #die(process: Process): Promise<never> {
    this.#context.kernel.note(process.name, 'dies');
    process.isAlive = false;
    this.#killAll('its worker died');
    this.#begin(restartMs);
    return new Promise(() => {});
  }

  /** undefined: nobody knows whether it arrived. */
  async #ask(process: Process, request: Request): Promise<Answer> {
    const isLost = (): boolean => !this.isHealed && this.#random.chance(this.plan.loss);
    const onTheWay = (): Promise<void> => this.#sleep(process, this.#random.logarithmic(0.1, isLost() ? 10_000 : 50));
    await onTheWay();
    const { shell } = this.#controller;
    if (shell === undefined || isLost()) return void (await this.#sleep(process, giveUpMs));
    const death = this.#controller.died();
    const answered = shell.request(request).then(
      (reply): Answer => ({ reply }),
      (error: unknown): Answer => {
        if (!(error instanceof DroverError) || error.code === 'bug') throw error;
        return { refusal: error };
      },
    );
    const answer = await Promise.race([answered, death.promise.then((): Answer => undefined)]);
    death.cancel();
    this.#context.kernel.note(process.name, `${request.type}: ${describe(answer)}`);
    await onTheWay();
    return isLost() ? void (await this.#sleep(process, giveUpMs)) : answer;
  }

  #sleep(process: Process, ms: number): Promise<void> {
    return new Promise((resolve) => void this.#context.kernel.post(process, ms, 'goes on', resolve));
  }
}

const describe = (answer: Answer): string => {
  if (answer === undefined) return 'nobody answers';
  return 'refusal' in answer ? answer.refusal.code : answer.reply.type;
};

function outcomeOf({ exit = 1, signal }: Extract<Fate, { type: 'runs' }>): Outcome {
  if (signal !== undefined) return { kind: 'signalled', signal };
  return exit === 0 ? { kind: 'succeeded' } : { kind: 'exited', code: exit };
}
