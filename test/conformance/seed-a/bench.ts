/** A real controller behind a real socket, and workers over HTTP that a test plays by hand, request by request. */
import type { Timeouts } from '../../../src/model/timeouts.ts';
import type { WorkflowSpec } from '../../../src/protocol/spec.ts';
import type { TaskDetail } from '../../../src/protocol/views/tasks.ts';
import { type Answer, type Call, callsTo } from '../../controller/http.ts';
import { type InProcessController, newRemains, startController } from '../../controller/in-process.ts';
import { plainSpec } from '../../controller/spec.ts';

/** A lease lasts half a second, and what it covered is lost a moment later. */
export const short: Timeouts = {
  ...{ heartbeatMs: 50, heartbeatGraceMs: 50, healthCheckMs: 1_000, healthCheckGraceMs: 1_000 },
  ...{ checkIntervalMs: 20, loseAfterMs: 400, marginMs: 100, killGraceMs: 50 },
};

interface Shape extends Partial<WorkflowSpec> {
  /** Pairs of indices: the second is a continuation of the first. */
  readonly edges?: readonly (readonly [parent: number, child: number])[];
}

export class Bench {
  readonly #remains = newRemains();
  readonly #timeouts: Timeouts | undefined;
  #controller: InProcessController | undefined;
  call: Call = () => Promise.reject(new Error('it is not started'));

  constructor(timeouts?: Timeouts) {
    this.#timeouts = timeouts;
  }

  async start(): Promise<void> {
    const timeouts = this.#timeouts === undefined ? {} : { timeouts: this.#timeouts };
    this.#controller = await startController({ hasWorker: false, remains: this.#remains, ...timeouts });
    this.call = callsTo(this.#controller.access);
  }

  get access(): InProcessController['access'] {
    if (this.#controller === undefined) throw new Error('it is not started');
    return this.#controller.access;
  }

  /** Requests with a new token of that role. */
  async callsAs(role: string): Promise<Call> {
    const { body } = await this.call('POST', 'tokens', { role });
    return callsTo({ url: this.#controller?.access.url ?? '', token: body.token });
  }

  async stop(): Promise<void> {
    await this.#controller?.close();
    this.#controller = undefined;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async submit(tasks: readonly object[], { edges = [], ...spec }: Shape = {}): Promise<string> {
    const batch = {
      tasks,
      edges: edges.map(([parent, child]) => ({
        ...{ parents: [parent, parent], children: [child, child], after: 'success' },
      })),
    };
    const { status, body } = await this.call('POST', 'workflows', {
      spec: { ...plainSpec, maxAttempts: 1, ...spec },
      batch,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.id;
  }

  async worker(slots = 10, name = 'w'): Promise<string> {
    return (await this.call('POST', 'workers', { name, slots })).body.id;
  }

  claim(worker: string, task: string): Promise<Answer> {
    return this.call('PATCH', `tasks/${task}`, { state: 'running', execution_info: { worker } });
  }

  end(worker: string, task: string, info: object = { exit_status: 0 }, state = 'terminated'): Promise<Answer> {
    return this.call('PATCH', `tasks/${task}`, { state, execution_info: { worker, ...info } });
  }

  /** Claims and ends in one go. */
  async run(worker: string, task: string, info?: object): Promise<Answer> {
    await this.claim(worker, task);
    return this.end(worker, task, info);
  }

  async task(task: string): Promise<TaskDetail> {
    return (await this.call('GET', `tasks/${task}`)).body;
  }

  async state(task: string): Promise<string> {
    return (await this.task(task)).state;
  }

  async states(workflow: string): Promise<string[]> {
    const { tasks } = (await this.call('GET', `workflows/${workflow}/tasks`)).body as { tasks: { state: string }[] };
    return tasks.map(({ state }) => state);
  }

  async available(): Promise<string[]> {
    const { tasks } = (await this.call('GET', 'tasks/available')).body as { tasks: { id: string }[] };
    return tasks.map(({ id }) => id);
  }

  /** What a worker is told to end. */
  async orders(worker: string): Promise<string[]> {
    const { cancel } = (await this.call('GET', `workers/${worker}/orders`)).body;
    return cancel.map(({ attempt }: { attempt: string }) => attempt);
  }

  /** Once a condition holds, however long that takes. */
  async eventually(what: string, look: () => Promise<boolean>): Promise<void> {
    for (const deadline = performance.now() + 20_000; performance.now() < deadline; ) {
      if (await look()) return;
      await new Promise((done) => setTimeout(done, 10));
    }
    throw new Error(`it never came about that ${what}`);
  }
}
