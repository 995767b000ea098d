/** One worker as the controller knows it. Health beyond "heard lately" belongs to core/health. */
import type { AttemptId, WorkerId } from '../model/ids.ts';
import type { WorkerState } from '../model/states.ts';

export interface WorkerRow {
  readonly id: WorkerId;
  readonly shard: string;
  /** The host lock that it holds: whoever holds it next proves that this one is dead. */
  readonly lock: string;
  readonly instance: string;
  readonly host: string;
  readonly slots: number;
  readonly state: WorkerState;
  readonly joinedAt: number;
  readonly goneFor: string | undefined;
}

type Joined = Pick<WorkerRow, 'shard' | 'lock' | 'instance' | 'host' | 'slots'> & { readonly worker: WorkerId };

export class WorkerRecord {
  readonly id: WorkerId;
  readonly shard: string;
  readonly lock: string;
  readonly instance: string;
  readonly host: string;
  slots: number;
  readonly joinedAt: number;
  /** Not durable: after a restart every worker that is not gone is `new` until it says what it runs. */
  state: WorkerState = 'new';
  goneFor: string | undefined;
  /** Not durable: a restart counts from its own start, so that no worker is given up too early. */
  heardAt: number;
  /** Attempts recorded for it that have not ended. */
  readonly attempts = new Set<AttemptId>();
  /** A moving average of how long its attempts run, from which the prefetch is computed; 0 before the first. */
  averageMs = 0;

  constructor(joined: Joined, at: number) {
    this.id = joined.worker;
    this.shard = joined.shard;
    this.lock = joined.lock;
    this.instance = joined.instance;
    this.host = joined.host;
    this.slots = joined.slots;
    this.joinedAt = at;
    this.heardAt = at;
  }

  row(): WorkerRow {
    const { id, shard, lock, instance, host, slots, state, joinedAt, goneFor } = this;
    return { id, shard, lock, instance, host, slots, state: state === 'gone' ? 'gone' : 'new', joinedAt, goneFor };
  }

  static load(row: WorkerRow, at: number): WorkerRecord {
    const record = new WorkerRecord({ ...row, worker: row.id }, row.joinedAt);
    record.state = row.state;
    record.goneFor = row.goneFor;
    record.heardAt = at;
    return record;
  }
}
