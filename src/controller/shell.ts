/**
 * Pumps inputs into the controller's reactor, makes each turn durable, then performs its effects; and lets readers look
 * at the cluster between turns. It has no opinion on tasks or workflows: no `if` here is about their state.
 * 1. One turn at a time: step, commit, perform. Inputs that come meanwhile make up the next one (group commit).
 * 2. A commit that fails ends the process: memory never runs ahead of a disk that said no.
 * 3. A reader sees only what is durable.
 * 4. While workers have work to spare their messages wait for `turnPauseMs`, or until half of it may have ended; nothing
 *    else waits.
 */
import type { AttemptRow } from '../core/attempt/record.ts';
import type { Change } from '../core/change.ts';
import type { Cluster } from '../core/cluster.ts';
import { DroverError } from '../model/errors.ts';
import { commitRowsMax, frameBytesMax, inputsMax, turnPauseMs } from '../model/limits.ts';
import type { Clock, Link, LinkListener, Log, Timer } from '../platform/env.ts';
import { decodeFromWorker, encodeFrames, type FromWorker, type Order, type ToWorker } from '../protocol/worker.ts';
import type { Batch, Store, TaskDefinition } from '../store/store.ts';
import type { Effect, Input, Launch, LinkId, OutputWrite, Reply, Request, RequestKey, StepResult } from './messages.ts';
import { Observations } from './observations.ts';
import { isSubmission, Phases } from './phases.ts';
import { Controller, type ControllerStart } from './reactor.ts';

/** The packed files of output. */
export interface OutputPacks {
  /** Resolves when all of it is durable. */
  write(writes: readonly OutputWrite[]): Promise<void>;
  read(file: number, position: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface ControllerWorld {
  readonly clock: Clock;
  readonly store: Store;
  readonly packs: OutputPacks;
  readonly log: Log;
  /** Calls back in the next turn of the event loop. */
  defer(callback: () => void): void;
  /** The store failed: the process must end. */
  onFatal(error: unknown): void;
}

/** What one turn changed, once that is durable. */
export interface Committed {
  /** The number of its first change. */
  readonly first: number;
  readonly at: number;
  readonly changes: readonly Change[];
  /** All attempts that these name. */
  readonly attempts: readonly AttemptRow[];
}

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: unknown) => void;
}

interface OpenLink {
  readonly link: Link;
  /** Workflows whose specification this link has carried. */
  readonly specs: Set<number>;
}

export class ControllerShell {
  readonly controller: Controller;
  readonly observations: Observations;
  readonly scheduler: string;
  readonly #world: ControllerWorld;
  readonly #phases: Phases;
  readonly #tickets = new Map<number, Waiting>();
  readonly #links = new Map<LinkId, OpenLink>();
  readonly #held = new Set<Link>();
  readonly #watchers = new Set<() => void>();
  readonly #followers = new Set<(committed: Committed) => void>();
  /** They look between two turns, however many turns follow each other. */
  #readers: (() => void)[] = [];
  #inputs: Input[] = [];
  #turn: Promise<void> | undefined;
  #timer: Timer | undefined;
  /** Until then, and as long as no more attempts end and nothing else comes, the messages of workers wait. */
  #calmUntil = 0;
  #spare = 0;
  #pause: Timer | undefined;
  /** Of attempts, among the inputs. */
  #ends = 0;
  #isPressing = false;
  #lastTicket = 0;
  #lastLink = 0;
  #isClosed = false;

  constructor(world: ControllerWorld, start: ControllerStart, phases = new Phases(world.log)) {
    this.#world = world;
    this.#phases = phases;
    this.scheduler = start.scheduler;
    this.controller = new Controller(start);
    this.observations = new Observations({
      cluster: start.cluster,
      store: world.store,
      clock: world.clock,
      read: (look) => this.read(look),
      breathe: () => new Promise((resolve) => void world.defer(resolve)),
      isClosed: () => this.#isClosed,
    });
    this.#feed({ type: 'tick' });
  }

  get store(): Store {
    return this.#world.store;
  }

  get packs(): OutputPacks {
    return this.#world.packs;
  }

  /** Resolves when what was asked for is durable, and under a key that was used before with what came of it then; rejects with a DroverError when it is refused. */
  request(request: Request, key?: RequestKey): Promise<Reply> {
    if (this.#isClosed) return Promise.reject(new DroverError('controller-stopping', 'the controller is stopping'));
    const ticket = ++this.#lastTicket;
    const reply = new Promise<Reply>((resolve, reject) => this.#tickets.set(ticket, { resolve, reject }));
    this.#feed({ type: 'request', ticket, request, ...(key === undefined ? {} : { key }) });
    return reply;
  }

  /** What a request under that key was answered, if there was one. */
  answerTo(key: RequestKey): Promise<Reply | undefined> {
    return this.read((_, now) => this.controller.answers.find(key, now));
  }

  /** Looks at the cluster when everything in it is durable. */
  read<T>(look: (cluster: Cluster, now: number) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (): void => {
        try {
          resolve(look(this.controller.cluster, this.#world.clock.now()));
        } catch (error) {
          reject(error);
        }
      };
      if (this.#turn === undefined) answer();
      else this.#readers.push(answer);
    });
  }

  /** Resolves after the next turn that changed something, or at that time. */
  changed(until: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#world.clock.at(until, () => done());
      const done = (): void => {
        timer.cancel();
        this.#watchers.delete(done);
        resolve();
      };
      this.#watchers.add(done);
    });
  }

  /** Tells of every change from now on, in their order and when they are durable. Returns how to stop. */
  follow(follower: (committed: Committed) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  now(): number {
    return this.#world.clock.now();
  }

  acceptLink(link: Link): LinkListener {
    const id = ++this.#lastLink;
    this.#links.set(id, { link, specs: new Set() });
    return {
      onText: (text) => this.#onText(id, link, text),
      onClose: () => {
        this.#links.delete(id);
        this.#held.delete(link);
        this.#feed({ type: 'link-closed', link: id });
      },
    };
  }

  /** Finishes the turn under way; takes no further input. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#pause?.cancel();
    while (this.#turn !== undefined) await this.#turn;
    for (const { link } of this.#links.values()) link.close('the controller ends');
    for (const watcher of this.#watchers) watcher();
    const error = new DroverError('controller-stopping', 'the controller is stopping');
    for (const { reject } of this.#tickets.values()) reject(error);
  }

  #onText(id: LinkId, link: Link, text: string): void {
    try {
      for (const message of decodeFromWorker(text) as FromWorker[]) {
        this.#inputs.push({ type: 'link-message', link: id, message });
        if (message.t === 'update') this.#ends += message.ends.length;
      }
      this.#holdBack(link);
      if (this.#mayWait()) this.#wakeLater();
      else this.#wake();
    } catch (error) {
      if (!(error instanceof DroverError)) throw error;
      this.#world.log.warn({ code: error.code, link: id }, `a worker's message was refused: ${error.message}`);
      if (error.code === 'protocol-version') for (const text of encodeFrames([refusalOf(error)])) link.send(text);
      link.close('malformed frame');
    }
  }

  #feed(input: Input): void {
    this.#inputs.push(input);
    this.#isPressing = true;
    this.#wake();
  }

  #mayWait(): boolean {
    return !this.#isPressing && 2 * this.#ends < this.#spare && this.#world.clock.now() < this.#calmUntil;
  }

  #wakeLater(): void {
    if (this.#turn !== undefined || this.#pause !== undefined || this.#isClosed) return;
    this.#pause = this.#world.clock.at(this.#calmUntil, () => this.#wake());
  }

  #wake(): void {
    if (this.#turn !== undefined || this.#isClosed) return;
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#turn = new Promise((resolve) => {
      this.#world.defer(() => {
        this.#takeTurns().then(resolve, (error: unknown) => {
          this.#isClosed = true;
          this.#turn = undefined;
          this.#world.onFatal(error);
          resolve();
        });
      });
    });
  }

  async #takeTurns(): Promise<void> {
    let isUnfinished = false;
    while ((this.#isDue() || isUnfinished) && !this.#isClosed) {
      const inputs = this.#takeInputs();
      const result = this.controller.step(inputs, this.#world.clock.now());
      await this.#persist(result, inputs);
      await this.#perform(result.effects);
      this.observations.onCommitted(result);
      isUnfinished = result.isUnfinished;
      this.#spare = result.spare;
      this.#calmUntil = this.#world.clock.now() + turnPauseMs;
      this.#letRead();
      this.#letSend();
      if (result.changes.length > 0) this.#tellOf(result);
      if (this.#isDue() || isUnfinished) await new Promise<void>((resolve) => this.#world.defer(resolve));
    }
    this.#turn = undefined;
    this.#phases.enter('idle');
    this.#letRead();
    this.#arm();
    if (this.#inputs.length > 0) this.#wakeLater();
  }

  #tellOf({ at, changes, rows: { attempts } }: StepResult): void {
    const first = this.controller.sessions.version - changes.length + 1;
    for (const follower of this.#followers) follower({ first, at, changes, attempts });
    for (const watcher of this.#watchers) watcher();
  }

  #isDue(): boolean {
    return this.#inputs.length > 0 && !this.#mayWait();
  }

  #takeInputs(): readonly Input[] {
    const inputs = this.#inputs.splice(0, commitRowsMax);
    if (this.#inputs.length === 0) {
      this.#ends = 0;
      this.#isPressing = false;
    }
    return inputs;
  }

  /** Who sends faster than turns are taken waits. */
  #holdBack(link: Link): void {
    if (this.#inputs.length < inputsMax || this.#held.has(link)) return;
    this.#held.add(link);
    link.hold?.(true);
  }

  #letSend(): void {
    if (this.#inputs.length >= inputsMax) return;
    for (const link of this.#held) link.hold?.(false);
    this.#held.clear();
  }

  #letRead(): void {
    const readers = this.#readers;
    this.#readers = [];
    for (const answer of readers) answer();
  }

  async #persist(result: StepResult, inputs: readonly Input[]): Promise<void> {
    const { effects: _, isUnfinished: __, tagged: ___, writes, ...batch } = result;
    if (isEmpty(batch)) return;
    this.#phases.enter(inputs.some(isSubmission) ? 'submitting' : 'committing');
    if (writes.length > 0) await this.#world.packs.write(writes);
    await this.#world.store.commit(batch);
  }

  #arm(): void {
    this.#timer?.cancel();
    const next = this.controller.nextDeadline(this.#world.clock.now());
    if (this.#isClosed || next === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#world.clock.at(next, () => this.#feed({ type: 'tick' }));
  }

  async #perform(effects: readonly Effect[]): Promise<void> {
    const outgoing = new Map<LinkId, ToWorker[]>();
    const closing: LinkId[] = [];
    const post = (link: LinkId, message: ToWorker): void => {
      const messages = outgoing.get(link);
      if (messages === undefined) outgoing.set(link, [message]);
      else messages.push(message);
    };
    if (effects.some(({ type }) => type === 'run')) this.#phases.enter('dispatching');
    for (const effect of effects) {
      if (effect.type === 'send') post(effect.link, effect.message);
      else if (effect.type === 'run') for (const message of await this.#runMessages(effect)) post(effect.link, message);
      else if (effect.type === 'close-link') closing.push(effect.link);
      else this.#answer(effect);
    }
    for (const [link, messages] of outgoing) {
      for (const frame of encodeFrames(messages)) this.#links.get(link)?.link.send(frame);
    }
    for (const link of closing) this.#links.get(link)?.link.close('the controller closed it');
  }

  #answer(effect: Extract<Effect, { type: 'reply' | 'refuse' | 'log' }>): void {
    if (effect.type === 'log') return this.#world.log[effect.level](effect.facts, effect.message);
    const waiting = this.#tickets.get(effect.ticket);
    this.#tickets.delete(effect.ticket);
    if (effect.type === 'reply') waiting?.resolve(effect.reply);
    else waiting?.reject(effect.error);
  }

  /** Adds what only the store has: commands, and specifications that the link has not carried yet. */
  async #runMessages({ link, instance, seq, attempts }: Extract<Effect, { type: 'run' }>): Promise<ToWorker[]> {
    const open = this.#links.get(link);
    if (open === undefined) return [];
    const messages: ToWorker[] = [];
    for (let from = 0; from < attempts.length; from += definitionsAtOnce) {
      const slice = attempts.slice(from, from + definitionsAtOnce);
      const definitions = await this.#world.store.definitions(slice.map(({ task }) => task));
      messages.push(...(await this.#specMessages(open, { instance, seq }, definitions)));
      for (const orders of cut(definitions.map((definition, at) => orderOf(definition, slice[at] as Launch)))) {
        messages.push({ t: 'run', scheduler: this.scheduler, instance, seq, specs: [], orders });
      }
    }
    return messages;
  }

  /** Each alone, since an environment may be large. */
  async #specMessages(
    open: OpenLink,
    to: { readonly instance: string; readonly seq: number },
    definitions: readonly TaskDefinition[],
  ): Promise<ToWorker[]> {
    const messages: ToWorker[] = [];
    for (const workflow of new Set(definitions.map((definition) => definition.workflow))) {
      if (open.specs.has(workflow)) continue;
      open.specs.add(workflow);
      const known = await this.#world.store.workflowSpec(workflow);
      if (known === undefined) continue;
      // Whom to tell, with what secret, is no worker's business.
      const { notify: _, ...spec } = known;
      messages.push({ t: 'run', scheduler: this.scheduler, ...to, specs: [{ workflow, spec }], orders: [] });
    }
    return messages;
  }
}

/** Most turns of an idle controller have nothing to make durable. */
const isEmpty = ({ changes, output, samples = [], generation, tokens, answers, notices }: Batch): boolean =>
  changes.length + output.length + samples.length === 0 && (generation ?? tokens ?? answers ?? notices) === undefined;

const refusalOf = ({ code, message, details }: DroverError): ToWorker => ({
  ...{ t: 'refused', instance: String(details?.instance ?? ''), code, message },
});

const definitionsAtOnce = 256;
/** A message of orders stays well within a frame, whatever escaping adds; one that is larger travels alone. */
const orderCharactersMax = frameBytesMax / 4;

function orderOf({ id, workflow, index, spec }: TaskDefinition, { attempt, number, need }: Launch): Order {
  const { command = '', name, arrayIndex, timeoutMs } = spec;
  return {
    ...{ attempt, number, task: id, workflow, index, command },
    ...(name === undefined ? {} : { name }),
    ...(arrayIndex === undefined ? {} : { arrayIndex }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(need === undefined ? {} : { need }),
  };
}

function* cut(orders: readonly Order[]): Generator<Order[]> {
  let part: Order[] = [];
  let characters = 0;
  for (const order of orders) {
    const length = order.command === part.at(-1)?.command ? 0 : order.command.length;
    if (part.length > 0 && characters + length > orderCharactersMax) {
      yield part;
      part = [];
      characters = 0;
    }
    part.push(order);
    characters += length;
  }
  if (part.length > 0) yield part;
}
