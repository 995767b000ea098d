/**
 * A worker over HTTP, typed: what a program needs that runs tasks by itself. Owns its id and the terms of its leases.
 * What may be repeated without harm is, when the connection fails; a claim is not: `claims` tells what it got.
 */
import type { OutputStream } from '../model/states.ts';
import type {
  ClaimList,
  ClaimView,
  ExecutionInfo,
  ExecutionReport,
  HeartbeatAnswer,
  LeaseTerms,
  Registered,
  StopList,
  UsageReport,
  WorkerRegistration,
} from '../protocol/http-worker.ts';
import type { TaskView } from '../protocol/views/tasks.ts';
import { apiPath } from './paths.ts';
import { type Access, type Patience, parseJson, type Reply, Transport } from './transport.ts';

export type UsageField = 'memory_usage' | 'cpu_utilization' | 'gpu_usage';

/** How an attempt ended, without what the client adds. */
export type EndOfAttempt = Omit<ExecutionReport, 'worker' | 'attempt'>;

export class WorkerClient {
  readonly id: string;
  readonly terms: LeaseTerms;
  private readonly transport: Transport;

  private constructor({ id, ...terms }: Registered, transport: Transport) {
    this.id = id;
    this.terms = terms;
    this.transport = transport;
  }

  static async register(access: Access, registration: WorkerRegistration, patience?: Patience): Promise<WorkerClient> {
    const transport = new Transport(access, patience);
    const { body } = await transport.post(apiPath('workers'), registration);
    return new WorkerClient(parseJson(body) as Registered, transport);
  }

  /** The next tasks, in the scheduler's order; with `waitMs`, waits as long for the first of them. */
  async claim(request: { readonly max?: number; readonly waitMs?: number } = {}): Promise<readonly ClaimView[]> {
    const reply = await this.transport.post(apiPath(`workers/${this.id}/claims`), request, request.waitMs);
    return read<ClaimList>(reply).claims;
  }

  /** One task by its name. Whoever is not the first is refused with `task-not-available`. */
  async claimTask(task: string): Promise<ClaimView> {
    const reply = await this.transport.change('PATCH', apiPath(`tasks/${task}`), {
      state: 'running',
      execution_info: { worker: this.id },
    });
    const { state: _, ...claim } = read<ClaimView & { readonly state: string }>(reply);
    return claim;
  }

  /** All that it has claimed and not ended: also what an answer that got lost told of. */
  async claims(): Promise<readonly ClaimView[]> {
    return read<ClaimList>(await this.transport.get(apiPath(`workers/${this.id}/claims`))).claims;
  }

  /** Renews the leases of these attempts; of all that it has, when none is named. */
  async heartbeat(attempts?: readonly string[]): Promise<HeartbeatAnswer> {
    const body = attempts === undefined ? {} : { attempts };
    return read(await this.transport.repeat('POST', apiPath(`workers/${this.id}/heartbeat`), body));
  }

  /** What it is to end; with `waitMs`, waits as long for attempts that it does not know of yet. */
  async orders(wait: { readonly waitMs?: number; readonly known?: readonly string[] } = {}): Promise<StopList> {
    const { waitMs, known } = wait;
    const query = { waitMs, known: known === undefined || known.length === 0 ? undefined : known.join(',') };
    return read(await this.transport.get(apiPath(`workers/${this.id}/orders`, query), waitMs));
  }

  /** Its process has begun; when absent, now. */
  async started({ task, number }: ClaimView, at?: number): Promise<void> {
    const report = { worker: this.id, attempt: number, ...(at === undefined ? {} : { time_started: at }) };
    await this.transport.repeat('POST', apiPath(`tasks/${task}/execution_info/time_started`), report);
  }

  /** Bytes that begin at an offset of the stream; returns where it ends now. A piece that is sent again is kept once. */
  async putOutput({ attempt }: ClaimView, stream: OutputStream, offset: number, bytes: Uint8Array): Promise<number> {
    const route = `attempts/${encodeURIComponent(attempt)}/output/${stream}`;
    const reply = await this.transport.put(apiPath(route, { worker: this.id, offset }), bytes);
    return read<{ readonly offset: number }>(reply).offset;
  }

  /** The last word on an attempt, after all of its output; what follows is the controller's to decide. */
  end(claim: ClaimView, end: EndOfAttempt): Promise<TaskView> {
    return this.report(claim, 'terminated', end);
  }

  /** Likewise, for one that was ended because it was told to; without an exit or a signal where that took KILL. */
  cancelled(claim: ClaimView, end: EndOfAttempt = {}): Promise<TaskView> {
    return this.report(claim, 'cancelled', end);
  }

  /** At any rate, also after the end. */
  async reportUsage(
    { task, number }: ClaimView,
    field: UsageField,
    report: Omit<UsageReport, 'worker' | 'attempt'>,
  ): Promise<{ readonly attempt: number; readonly kept: number }> {
    const body = { worker: this.id, attempt: number, ...report };
    return read(await this.transport.post(apiPath(`tasks/${task}/execution_info/report_${field}`), body));
  }

  async executionInfo({ task, number }: ClaimView): Promise<ExecutionInfo> {
    return read(await this.transport.get(apiPath(`tasks/${task}/execution_info`, { attempt: number })));
  }

  /** It ends, and nothing of what it ran is left: that is free for others at once. */
  async leave(): Promise<void> {
    await this.transport.delete(apiPath(`workers/${this.id}`));
  }

  private async report({ task, number }: ClaimView, state: string, end: EndOfAttempt): Promise<TaskView> {
    const body = { state, execution_info: { worker: this.id, attempt: number, ...end } };
    return read(await this.transport.repeat('PATCH', apiPath(`tasks/${task}`), body));
  }
}

const read = <View>({ body }: Reply): View => parseJson(body) as View;
