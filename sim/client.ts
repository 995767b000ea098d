/**
 * A client of the controller: submits its workflow, changes its mind, and remembers what it was told.
 *
 * Owns: what was acknowledged to it.
 * 1. It asks again when the controller died before it answered, so that in the end everything was asked for; what it
 *    can't know to be done twice (a registration) may be.
 * 2. When the controller's disk was replaced by a backup nothing holds that it was told: it begins anew, with other tasks.
 */
import type { Reply, Request } from '../src/controller/messages.ts';
import type { ControllerShell } from '../src/controller/shell.ts';
import type { Cluster } from '../src/core/cluster.ts';
import { DroverError } from '../src/model/errors.ts';
import type { AttemptId, TaskId, WorkflowId } from '../src/model/ids.ts';
import { isEndedWorkflow } from '../src/model/states.ts';
import type { TaskBatch } from '../src/protocol/spec.ts';
import type { ControllerHost } from './controller-host.ts';
import type { TaskNature } from './fate.ts';
import type { Kernel } from './kernel.ts';
import { Process } from './process.ts';
import { type ClientPlan, licence, licencesMax, type Operation } from './workload.ts';

const askAgainMs = 300;
const lookMs = 2_000;
const slotsMost = 6;

type Administration = Extract<Operation['type'], `${string}-worker` | 'stop-worker-now'>;

const aboutTask = ['cancel-task', 'retry-task', 'hold-task', 'release-task', 'set-priority', 'read-output'] as const;
type AboutTask = (typeof aboutTask)[number];
const isAboutTask = (type: Operation['type']): type is AboutTask => (aboutTask as readonly string[]).includes(type);

interface Found {
  readonly task: TaskId;
  readonly attempt: AttemptId | undefined;
}

/** What must be so for good, since a client was told. */
export interface Acknowledged {
  readonly workflow: WorkflowId;
  readonly name: string;
  tasks: number;
  isClosed: boolean;
  isCancelled: boolean;
}

type Answer = { readonly reply: Reply } | { readonly refusal: DroverError } | { readonly died: true };

const lateTask = (task: string): TaskNature => ({
  ...{ task, ms: 200, fails: 0, unstartable: 0, isStubborn: false, bytes: 0 },
});

/** The controller has forgotten: whatever was going on is given up. */
class Forgotten extends Error {}

export class Client {
  readonly plan: ClientPlan;
  acknowledged: Acknowledged[] = [];
  readonly #kernel: Kernel;
  readonly #host: ControllerHost;
  readonly #process: Process;
  isDone = false;
  #extras = 0;
  #restores = 0;
  #round = 0;

  constructor(plan: ClientPlan, kernel: Kernel, host: ControllerHost) {
    this.plan = plan;
    this.#kernel = kernel;
    this.#host = host;
    this.#process = new Process(plan.name, 'clients', true);
    kernel.post(this.#process, plan.startsAtMs, 'begins', () => {
      this.#live().then(
        () => {
          this.isDone = true;
        },
        (error: unknown) => kernel.fail('18', `a client was told ${String((error as Error).stack ?? error)}`),
      );
    });
  }

  async #live(): Promise<void> {
    for (;;) {
      this.#restores = this.#host.restores;
      try {
        return await this.#liveOnce();
      } catch (error) {
        if (!(error instanceof Forgotten)) throw error;
        this.acknowledged = [];
        this.#round++;
      }
    }
  }

  async #liveOnce(): Promise<void> {
    const { licences } = this.plan;
    if (licences !== undefined) await this.#insist({ type: 'set-limit', name: licence, max: licences });
    const mine = await this.#submit();
    for (const { afterMs, operations } of this.plan.bursts) {
      await this.#sleep(afterMs);
      await this.#operateAtOnce(mine, operations);
    }
    await this.#seeToItsEnd(mine);
  }

  /** Whether an answer that never came was a yes can't be told: its tasks get other names then. */
  async #submitWhole([batch]: readonly TaskBatch[]): Promise<Acknowledged> {
    const { spec, name } = this.plan;
    const { tasks, edges } = batch ?? { tasks: [], edges: [] };
    for (; ; this.#round++) {
      const answer = await this.#ask({ type: 'submit', spec, batch: this.#ofThisRound({ tasks, edges }) });
      if (!('reply' in answer) || answer.reply.type !== 'registered') continue;
      const { workflow } = answer.reply;
      const mine = { workflow, name, tasks: tasks.length, isClosed: true, isCancelled: false };
      this.acknowledged.push(mine);
      return mine;
    }
  }

  async #submit(): Promise<Acknowledged> {
    if (this.plan.isWhole) return this.#submitWhole(this.plan.batches);
    const { spec, batches, pauseMs, early, withClose, isForgetful, name } = this.plan;
    for (;;) {
      const answer = await this.#ask({ type: 'register', spec });
      if (!('reply' in answer) || answer.reply.type !== 'registered') continue;
      const { workflow } = answer.reply;
      const mine = { workflow, name, tasks: 0, isClosed: false, isCancelled: false };
      this.acknowledged.push(mine);
      for (const batch of batches) {
        await this.#sleep(pauseMs);
        if (!(await this.#extend(mine, this.#ofThisRound(batch)))) break;
      }
      for (const operation of early) await this.#operateAtOnce(mine, [operation]);
      if (!isForgetful) await this.#operateAtOnce(mine, [{ type: 'close', index: 1 }, ...withClose]);
      return mine;
    }
  }

  /** The tasks of an earlier round may still run somewhere, and are not these. */
  #ofThisRound({ tasks, edges }: TaskBatch): TaskBatch {
    if (this.#round === 0) return { tasks, edges };
    const renamed = tasks.map((spec) => {
      if (spec.command === undefined) return spec;
      const nature = JSON.parse(spec.command) as TaskNature;
      return { ...spec, command: JSON.stringify({ ...nature, task: `${nature.task}/${this.#round}` }) };
    });
    return { tasks: renamed, edges };
  }

  /** An answer that never came is found out by looking: the batch is there as a whole, or not at all. */
  async #extend(mine: Acknowledged, batch: TaskBatch): Promise<boolean> {
    const { workflow } = mine;
    const wanted = mine.tasks + batch.tasks.length;
    for (;;) {
      const size = await this.#read((cluster) => cluster.workflow(workflow).size);
      if (size !== mine.tasks && size !== wanted)
        this.#kernel.fail('17', `w${workflow} has ${size} tasks, not ${wanted}`);
      if (size === wanted) {
        mine.tasks = wanted;
        return true;
      }
      const answer = await this.#ask({ type: 'extend', workflow, batch });
      if ('refusal' in answer) return false;
      if ('reply' in answer) {
        mine.tasks = wanted;
        return true;
      }
    }
  }

  /** Whoever has to look first looks before anybody asks; and nobody goes on in a later round. */
  async #operateAtOnce(mine: Acknowledged, operations: readonly Operation[]): Promise<void> {
    const found = await Promise.all(operations.map((operation) => this.#findTask(mine, operation)));
    const ends = await Promise.allSettled(operations.map((operation, at) => this.#operate(mine, operation, found[at])));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #findTask(mine: Acknowledged, { type, index }: Operation): Promise<Found | undefined> {
    if (!isAboutTask(type)) return undefined;
    return this.#read((cluster) => {
      const task = cluster.workflow(mine.workflow).task(index);
      return task === undefined ? undefined : { task, attempt: cluster.tasks.lastAttempt(task) };
    });
  }

  async #operate(mine: Acknowledged, { type, index }: Operation, found: Found | undefined): Promise<void> {
    const { workflow } = mine;
    switch (type) {
      case 'close': {
        const answer = await this.#insist({ type, workflow });
        mine.isClosed ||= 'reply' in answer;
        return;
      }
      case 'extend': {
        // Asked once: whether an answer that never came was a yes can't be told, as others extend it, too.
        const batch = { tasks: [{ command: JSON.stringify(lateTask(`${mine.name}.+${++this.#extras}`)) }], edges: [] };
        const answer = await this.#ask({ type, workflow, batch });
        mine.tasks += 'reply' in answer ? 1 : 0;
        return;
      }
      case 'cancel': {
        const answer = await this.#insist({ type, workflow });
        mine.isCancelled ||= 'reply' in answer;
        return;
      }
      case 'abort':
        return void (await this.#insist({ type, workflow }));
      case 'halt-drain':
      case 'halt-kill':
        return void (await this.#insist({ type: 'halt', workflow, mode: type === 'halt-kill' ? 'kill' : 'drain' }));
      case 'resume-hot':
      case 'resume-cold':
        return this.#revive(mine, { type: 'resume', workflow, how: type === 'resume-hot' ? 'hot' : 'cold' });
      case 'retry-failed':
        return this.#revive(mine, { type, workflow, after: 0 });
      case 'halt-interrupted':
      case 'dismiss-workers':
        return void (await this.#insist({ type }));
      case 'set-limit':
        return void (await this.#insist({ type, name: licence, max: index % (licencesMax + 1) }));
      case 'set-concurrency':
        return void (await this.#insist({ type, workflow, patch: { workflow: index % 5 === 0 ? null : index % 5 } }));
      case 'drain-worker':
      case 'release-worker':
      case 'stop-worker':
      case 'stop-worker-now':
      case 'resize-worker':
        return this.#administer(type, index);
      default:
        return this.#operateOnTask(mine, type, found);
    }
  }

  async #administer(type: Administration, index: number): Promise<void> {
    const workers = await this.#read(({ liveWorkers }) => [...liveWorkers.keys()]);
    const worker = workers[index % workers.length];
    if (worker === undefined) return;
    if (type === 'resize-worker') return void (await this.#ask({ type, worker, slots: 1 + (index % slotsMost) }));
    if (type === 'drain-worker' || type === 'release-worker') return void (await this.#ask({ type, worker }));
    await this.#ask({ type: 'stop-worker', worker, isNow: type === 'stop-worker-now' });
  }

  /** What was cancelled may run again from the moment in which this is asked. */
  async #revive(mine: Acknowledged, request: Request): Promise<void> {
    mine.isCancelled = false;
    await this.#insist(request);
    mine.isCancelled = false;
  }

  async #operateOnTask(mine: Acknowledged, type: AboutTask, found: Found | undefined): Promise<void> {
    if (found === undefined) return;
    const { task, attempt } = found;
    if (type === 'retry-task') return this.#revive(mine, { type, task });
    if (type === 'set-priority') return void (await this.#insist({ type, task, priority: (task % 5) - 2 }));
    if (type !== 'read-output') return void (await this.#insist({ type, task }));
    if (attempt !== undefined) await this.#ask({ type, attempt, stream: 'stdout', offset: 0, limit: 1_000 });
  }

  /** What was halted goes on, what was left open is closed, so that everything can end. */
  async #seeToItsEnd(mine: Acknowledged): Promise<void> {
    const { workflow } = mine;
    await this.#insist({ type: 'set-concurrency', workflow, patch: { workflow: null } });
    for (;;) {
      if (this.plan.licences !== undefined) {
        const { max } = await this.#read(({ limits }) => limits.get(licence));
        if (max !== licencesMax) await this.#insist({ type: 'set-limit', name: licence, max: licencesMax });
      }
      const seen = await this.#read((cluster) => {
        const { state, open, unended } = cluster.workflow(workflow);
        const held = [...cluster.workflow(workflow).tasks()].filter((task) => cluster.tasks.isHeld(task));
        return { state, open, unended, held };
      });
      if (seen.state === 'halted') await this.#revive(mine, { type: 'resume', workflow, how: 'cold' });
      else if (isEndedWorkflow(seen.state)) return;
      else if (seen.open) await this.#insist({ type: 'close', workflow });
      // What was lost, and is not tried again unasked.
      else for (const task of seen.held) await this.#insist({ type: 'retry-task', task });
      await this.#sleep(lookMs);
    }
  }

  /** Until there is an answer: for what can be asked twice. */
  async #insist(request: Request): Promise<Exclude<Answer, { died: true }>> {
    for (;;) {
      const answer = await this.#ask(request);
      if (!('died' in answer)) return answer;
    }
  }

  async #ask(request: Request): Promise<Answer> {
    const shell = await this.#shell();
    const death = this.#host.died();
    const answered = shell.request(request).then(
      (reply): Answer => ({ reply }),
      (error: unknown): Answer => {
        if (!(error instanceof DroverError) || error.code === 'bug') throw error;
        return { refusal: error };
      },
    );
    const answer = await Promise.race([answered, death.promise.then((): Answer => ({ died: true }))]);
    death.cancel();
    this.#kernel.note(
      this.#process.name,
      `${request.type}: ${'refusal' in answer ? answer.refusal.code : Object.keys(answer)}`,
    );
    return answer;
  }

  async #read<T>(look: (cluster: Cluster) => T): Promise<T> {
    for (;;) {
      const shell = await this.#shell();
      const death = this.#host.died();
      const seen = shell.read((cluster) => ({ value: look(cluster) }));
      const found = await Promise.race([seen, death.promise]);
      death.cancel();
      if (found !== undefined) return found.value;
    }
  }

  async #shell(): Promise<ControllerShell> {
    for (;;) {
      if (this.#host.restores !== this.#restores) throw new Forgotten();
      if (this.#host.shell !== undefined) return this.#host.shell;
      await this.#sleep(askAgainMs);
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#kernel.post(this.#process, ms, 'goes on', resolve));
  }
}
