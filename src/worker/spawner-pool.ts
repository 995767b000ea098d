/**
 * Several spawners as one. A spawner stands still while each process that it starts turns into its program, so that one
 * alone can't keep many cores busy.
 *
 * Owns: which spawner has which task, and the tasks that may still wait there.
 * 1. They live and die together: without one of them, all that the others run is gone, too.
 * 2. A task is with one spawner at a time. It moves to one with a free slot only after the other has dropped it.
 */
import type { FromSpawner, QueueTask, ToSpawner } from '../protocol/spawner.ts';
import type { SpawnerHandle, SpawnerListener } from './shell.ts';

type Slots = Extract<ToSpawner, { readonly t: 'slots' }>;

interface Member {
  readonly handle: SpawnerHandle;
  slots: number;
  /** Tasks that it has in its slots, or before them. */
  readonly has: Set<number>;
  /** Tasks beside the slots. */
  readonly beside: Set<number>;
  /** Of these, those that may wait for a slot. */
  readonly waiting: Map<number, QueueTask>;
  isReady: boolean;
  isGone: boolean;
  /** Pings that it has not answered. */
  unanswered: number;
}

export class SpawnerPool<Handle extends SpawnerHandle> implements SpawnerHandle {
  readonly handles: readonly Handle[];
  readonly #members: readonly Member[];
  readonly #listener: SpawnerListener;
  readonly #memberOf = new Map<number, Member>();
  /** On their way from one to another. */
  readonly #moving = new Set<number>();
  #isReady = false;
  #isRetired = false;

  constructor(count: number, start: (listener: SpawnerListener) => Handle, listener: SpawnerListener) {
    this.#listener = listener;
    this.handles = Array.from({ length: count }, (_, at) =>
      start({
        onMessages: (messages) => this.#onMessages(this.#members[at] as Member, messages),
        onGone: () => this.#onGone(this.#members[at] as Member),
      }),
    );
    const state = { slots: 0, isReady: false, isGone: false, unanswered: 0 };
    this.#members = this.handles.map((handle) => ({
      handle,
      ...state,
      has: new Set(),
      beside: new Set(),
      waiting: new Map(),
    }));
  }

  send(messages: readonly ToSpawner[]): void {
    const outgoing = new Map<Member, ToSpawner[]>(this.#members.map((member) => [member, []]));
    for (const message of messages) {
      for (const [member, copy] of this.#route(message)) outgoing.get(member)?.push(copy);
    }
    for (const [{ handle }, mine] of outgoing) if (mine.length > 0) handle.send(mine);
  }

  /** From now on each may end when it is done. */
  retire(): void {
    this.#isRetired = true;
  }

  kill(): void {
    for (const handle of this.handles) handle.kill();
  }

  /** Who gets what of a message. */
  *#route(message: ToSpawner): Iterable<readonly [Member, ToSpawner]> {
    switch (message.t) {
      case 'slots':
        yield* this.#share(message);
        return;
      case 'queue':
        yield [message.beside === undefined ? this.#assign(message) : this.#assignBeside(message), message];
        return;
      case 'start':
        yield [this.#members[0] as Member, message];
        return;
      case 'drop':
      case 'kill': {
        const member = this.#memberOf.get(message.key) ?? (this.#members[0] as Member);
        // Whoever drops it now does so for good.
        this.#moving.delete(message.key);
        yield [member, message];
        return;
      }
      case 'ping':
        for (const member of this.#members) member.unanswered++;
        break;
      default:
        break;
    }
    for (const member of this.#members) yield [member, message];
  }

  /** Every so manieth slot: their numbers stay with a spawner, however many there are. */
  *#share({ t, count, directory }: Slots): Iterable<readonly [Member, ToSpawner]> {
    const total = this.#members.length;
    for (const [index, member] of this.#members.entries()) {
      member.slots = Math.max(0, Math.ceil((count - index) / total));
      yield [member, { t, count: member.slots, directory, of: { index, total } }];
    }
  }

  #assign(task: QueueTask): Member {
    const [first, ...others] = this.#members as [Member, ...Member[]];
    const best = others.reduce((found, member) => (roomOf(member) > roomOf(found) ? member : found), first);
    best.has.add(task.key);
    best.waiting.set(task.key, task);
    this.#memberOf.set(task.key, best);
    return best;
  }

  /** Those that have little to do take more. */
  #assignBeside({ key }: QueueTask): Member {
    const [first, ...others] = this.#members as [Member, ...Member[]];
    const best = others.reduce((found, member) => (loadOf(member) < loadOf(found) ? member : found), first);
    best.beside.add(key);
    this.#memberOf.set(key, best);
    return best;
  }

  #onMessages(member: Member, messages: readonly FromSpawner[]): void {
    const told = messages.filter((message) => this.#isForWorker(member, message));
    if (told.length > 0) this.#listener.onMessages(told);
    this.#level();
  }

  #isForWorker(member: Member, message: FromSpawner): boolean {
    switch (message.t) {
      case 'ready': {
        member.isReady = true;
        const areAll = this.#members.every(({ isReady }) => isReady);
        const isNews = areAll && !this.#isReady;
        this.#isReady = areAll;
        return isNews;
      }
      case 'pong':
        member.unanswered = 0;
        return this.#members.every(({ unanswered }) => unanswered === 0);
      case 'started':
        member.waiting.delete(message.key);
        this.#moving.delete(message.key);
        return true;
      case 'dropped':
        return !this.#move(member, message.key);
      case 'usage':
        return true;
      case 'ended':
      case 'failed':
        this.#leave(member, message.key);
        return true;
    }
  }

  #leave(member: Member, key: number): void {
    member.has.delete(key);
    member.beside.delete(key);
    member.waiting.delete(key);
    this.#memberOf.delete(key);
    this.#moving.delete(key);
  }

  /** Returns whether it was dropped to go to another one. */
  #move(member: Member, key: number): boolean {
    const task = member.waiting.get(key);
    const isMoving = this.#moving.has(key);
    this.#leave(member, key);
    if (!isMoving || task === undefined) return false;
    this.send([task]);
    return true;
  }

  /** What waits with one while another has room is asked back. */
  #level(): void {
    if (this.#members.length === 1) return;
    let room = this.#members.reduce((sum, member) => sum + Math.max(0, roomOf(member)), 0) - this.#moving.size;
    if (room <= 0) return;
    for (const member of this.#members) {
      const surplus = [...member.waiting.keys()].slice(roomOf(member) < 0 ? roomOf(member) : member.waiting.size);
      for (const key of surplus) {
        if (room-- <= 0) return;
        if (this.#moving.has(key)) continue;
        this.#moving.add(key);
        member.handle.send([{ t: 'drop', key }]);
      }
    }
  }

  #onGone(member: Member): void {
    member.isGone = true;
    if (!this.#isRetired) this.kill();
    if (this.#members.every(({ isGone }) => isGone)) this.#listener.onGone();
  }
}

/** Slots that are free there; below zero, how many tasks wait. */
const roomOf = ({ slots, has }: Member): number => slots - has.size;

const loadOf = ({ has, beside }: Member): number => has.size + beside.size;
