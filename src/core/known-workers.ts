/**
 * The workers that have ever joined.
 *
 * Owns: their records. Does not own: their attempts (known-attempts.ts), their health, and which of them are looked at for room.
 * 1. `live` has those that are not gone, and no others.
 */
import { assert } from '../model/errors.ts';
import type { WorkerId } from '../model/ids.ts';
import type { ChangeOf } from './change.ts';
import type { Dirty } from './dirty-rows.ts';
import type { Candidates } from './scheduler/candidates.ts';
import { WorkerRecord } from './worker.ts';

/** Of one that is there. */
type ChangeOfKnown = ChangeOf<
  'worker-patience' | 'worker-resized' | 'worker-refitted' | 'worker-barred' | 'worker-gone'
>;

export class KnownWorkers {
  readonly byId = new Map<WorkerId, WorkerRecord>();
  /** What is done for every worker is done for these. */
  readonly live = new Map<WorkerId, WorkerRecord>();
  readonly #candidates: Candidates;
  readonly #dirty: Dirty;

  constructor(candidates: Candidates, dirty: Dirty) {
    this.#candidates = candidates;
    this.#dirty = dirty;
  }

  add(worker: WorkerRecord): void {
    this.byId.set(worker.id, worker);
    if (worker.state === 'gone') return;
    this.live.set(worker.id, worker);
    this.#candidates.noteRoom(worker);
  }

  apply(change: ChangeOf<'worker-joined'> | ChangeOfKnown, at: number): void {
    if (change.type === 'worker-joined') this.add(new WorkerRecord(change, at));
    else this.#change(this.#get(change.worker), change);
    this.#dirty.workers.add(change.worker);
  }

  #change(worker: WorkerRecord, change: ChangeOfKnown): void {
    switch (change.type) {
      case 'worker-patience':
        worker.silenceMs = change.silenceMs;
        return;
      case 'worker-resized':
        worker.slots = change.slots;
        return this.#candidates.noteRoom(worker);
      case 'worker-refitted':
        worker.capacity = change.capacity;
        return this.#candidates.noteRoom(worker);
      case 'worker-barred':
        worker.bar = change.bar;
        return this.#candidates.noteRoom(worker);
      case 'worker-gone':
        worker.state = 'gone';
        worker.goneFor = change.why;
        this.live.delete(worker.id);
        return this.#candidates.remove(worker);
    }
  }

  #get(id: WorkerId): WorkerRecord {
    const worker = this.byId.get(id);
    assert(worker !== undefined, `worker k${id} is known`);
    return worker;
  }
}
