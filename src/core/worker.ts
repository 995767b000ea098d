/** One worker as the controller knows it. */
import { type Capacity, plainCapacity } from '../model/capacity.ts';
import type { AttemptId, TaskId, WorkerId } from '../model/ids.ts';
import type { WorkerKind, WorkerState } from '../model/states.ts';
import type { HealthFacts } from './health/health.ts';
import { Load, type Room, roomOf } from './resources/room.ts';

/** Why it gets no tasks, although it is healthy. One that is stopping is told to end when it has nothing left. */
export interface Bar {
  readonly kind: 'drained' | 'stopping' | 'quarantined';
  readonly why: string;
}

export interface BadEnd {
  readonly task: TaskId;
  readonly attempt: AttemptId;
  readonly at: number;
}

/** One task is tried elsewhere; others that failed here wait in triage until it has ended, or until that time. */
export interface Suspicion {
  readonly until: number;
  readonly trial: TaskId;
  readonly waiting: TaskId[];
}

export interface WorkerRow {
  readonly id: WorkerId;
  readonly kind: WorkerKind;
  /** Of one over HTTP: the token that it was registered with, and is spoken for with. */
  readonly owner: string | undefined;
  readonly shard: string;
  /** The host lock that it holds: whoever holds it next proves that this one is dead. */
  readonly lock: string;
  readonly instance: string;
  readonly host: string;
  readonly slots: number;
  readonly capacity: Capacity;
  readonly state: WorkerState;
  readonly joinedAt: number;
  readonly goneFor: string | undefined;
  readonly bar: Bar | undefined;
  /** The longest silence in which it may live on, by the timeouts that controllers have told it. */
  readonly silenceMs: number;
}

type Joined = Pick<WorkerRow, 'shard' | 'lock' | 'instance' | 'host' | 'slots'> & {
  readonly worker: WorkerId;
  readonly kind?: WorkerKind;
  readonly owner?: string | undefined;
  readonly capacity?: Capacity;
};

export class WorkerRecord {
  readonly id: WorkerId;
  readonly kind: WorkerKind;
  readonly owner: string | undefined;
  readonly shard: string;
  readonly lock: string;
  readonly instance: string;
  readonly host: string;
  readonly joinedAt: number;
  /** Its health as it was last computed; only `gone` is durable: a restart begins with `new`. */
  state: WorkerState = 'new';
  goneFor: string | undefined;
  bar: Bar | undefined;
  silenceMs = 0;
  /** Not durable: a restart counts from its own start, so that no worker is given up too early. */
  facts: HealthFacts;
  /** Why it is not healthy. */
  ailment: string | undefined;
  /** Without a link: nothing is sent to it, however healthy it was a moment ago. */
  isAway = false;
  #slots: number;
  #capacity: Capacity;
  #room: Room;
  /** What its attempts take, those included that wait for room. */
  readonly load = new Load();
  /** Attempts recorded for it that have not ended. */
  readonly attempts = new Set<AttemptId>();
  /** Those of them whose orders may not have arrived. */
  readonly unsure = new Set<AttemptId>();
  /** A moving average of how long its attempts run, from which the prefetch is computed; 0 before the first. */
  averageMs = 0;
  /** Bad ends since the last good one. Not durable, like all that follows. */
  streak: BadEnd[] = [];
  lastGoodAt = 0;
  suspicion: Suspicion | undefined;
  /** The id of a lane: it gets nothing else until that fits. */
  reservedFor: number | undefined;

  constructor(joined: Joined, at: number) {
    this.id = joined.worker;
    this.kind = joined.kind ?? 'native';
    this.owner = joined.owner;
    // Nobody looks after its health: as long as its lease lasts it is as well as it can be.
    if (this.kind === 'http') this.state = 'healthy';
    this.shard = joined.shard;
    this.lock = joined.lock;
    this.instance = joined.instance;
    this.host = joined.host;
    this.#slots = joined.slots;
    this.#capacity = joined.capacity ?? plainCapacity;
    this.#room = roomOf(this.#slots, this.#capacity);
    this.joinedAt = at;
    this.facts = unheardOf(at);
  }

  get slots(): number {
    return this.#slots;
  }

  set slots(slots: number) {
    this.#slots = slots;
    this.#room = roomOf(slots, this.#capacity);
  }

  get capacity(): Capacity {
    return this.#capacity;
  }

  set capacity(capacity: Capacity) {
    this.#capacity = capacity;
    this.#room = roomOf(this.#slots, capacity);
  }

  /** All that it has, for whoever counts. */
  get room(): Room {
    return this.#room;
  }

  row(): WorkerRow {
    const { id, kind, owner, shard, lock, instance, host, slots, capacity, joinedAt, goneFor, bar, silenceMs } = this;
    const state = this.state === 'gone' ? 'gone' : 'new';
    return { id, kind, owner, shard, lock, instance, host, slots, capacity, state, joinedAt, goneFor, bar, silenceMs };
  }

  static load(row: WorkerRow, at: number): WorkerRecord {
    const record = new WorkerRecord({ ...row, worker: row.id }, row.joinedAt);
    if (row.kind === 'native' || row.state === 'gone') record.state = row.state;
    record.goneFor = row.goneFor;
    record.bar = row.bar;
    record.silenceMs = row.silenceMs;
    record.facts = unheardOf(at);
    return record;
  }
}

const unheardOf = (at: number): HealthFacts => ({
  associatedAt: at,
  isNew: true,
  heartbeatAt: at,
  goodCheckAt: undefined,
  badCheckAt: undefined,
});
