/**
 * The eleven defects of Bistro's own code (PROTOCOL.md), written back into this one. Where ours can't have one in its
 * original form, the patch brings back the same fault, and says so.
 */
import type { Mutation } from './mutation.ts';

export const defects: readonly Mutation[] = [
  {
    name: 'defect-1',
    defect: 'a controller hands out its set of workers during its initial wait; the next one takes it for an agreement',
    patches: [
      {
        file: 'controller/worker-sessions.ts',
        find: 'const set = this.#wait.isOn(now) ? {} : { set: this.#mark() };',
        replace: 'const set = { set: this.#mark() };',
      },
    ],
    scenario: 'crash-in-wait',
  },
  {
    name: 'defect-2',
    defect: `a question is not answered while another attempt, ended and not acknowledged, is there (of any task: ours does
      not name the task)`,
    patches: [
      {
        file: 'worker/reactor.ts',
        find: `      if (this.#attempts.entries.has(attempt)) continue;
      const outcome`,
        replace: `      if (this.#attempts.entries.has(attempt)) continue;
      if ([...this.#attempts.entries.values()].some(({ phase }) => phase === 'ended')) continue;
      const outcome`,
      },
    ],
    scenario: 'ack-and-order-lost',
  },
  {
    name: 'defect-3',
    defect: 'an order whose failure shows after the end of its attempt is doubted all the same, and counts as running',
    patches: [
      {
        file: 'controller/reactor.ts',
        find: 'const seq = this.sessions.seqOf(worker.id);',
        replace: `const seq = this.sessions.seqOf(worker.id);
      for (const { attempt } of launches) (worker.ordered ??= new Set()).add(attempt);`,
      },
      {
        file: 'controller/worker-care.ts',
        find: `    for (const attempt of session.worker.attempts) {
      if (turn.cluster.attempts.get(attempt)?.state === 'sent') turn`,
        replace: `    for (const attempt of session.worker.ordered ?? []) {
      session.worker.attempts.add(attempt);
      if (turn.cluster.attempts.get(attempt)?.state === 'sent') turn`,
      },
    ],
    scenario: 'reset-after-end',
  },
  {
    name: 'defect-4',
    defect: 'a report of what runs that comes late, or twice, is applied',
    patches: [
      {
        file: 'controller/worker-sessions.ts',
        find: "if (!worker.facts.isNew || worker.state === 'must-die') return;",
        replace: "if (worker.state === 'must-die') return;",
      },
    ],
    scenario: 'report-replayed',
  },
  {
    name: 'defect-5',
    defect: `the controller's number falls behind that of its worker, which then refuses everything. Ours keeps it with the
      session, which lasts as long as the instance: here it starts over with each link`,
    patches: [
      {
        file: 'controller/worker-care.ts',
        find: `    session.notify = undefined;
    for`,
        replace: `    session.notify = undefined;
    session.seq = 0;
    for`,
      },
    ],
    scenario: 'order-lost-and-reset',
  },
  {
    name: 'defect-6',
    defect: 'a worker counts heartbeats from when they were answered',
    patches: [
      {
        file: 'worker/association.ts',
        find: 'const sentAt = this.#stamps.get(beat);',
        replace: 'const sentAt = this.#stamps.has(beat) ? this.answeredAt : undefined;',
      },
      {
        file: 'worker/reactor.ts',
        find: 'const { isGreeted } = this.#association.onReply(reply);',
        replace: `this.#association.answeredAt = now;
    const { isGreeted } = this.#association.onReply(reply);`,
      },
    ],
    scenario: 'slow-answers',
  },
  {
    name: 'defect-7',
    defect: 'a worker that must die and remembers a newer set ends the controller',
    patches: [
      {
        file: 'controller/worker-sessions.ts',
        find: `      const why = worker.ailment ?? '';
      effects`,
        replace: `      const why = worker.ailment ?? '';
      const { versionAtStart } = this.#options;
      if (heartbeat.echo?.scheduler !== this.#options.scheduler && heartbeat.echo?.version > versionAtStart) {
        throw new Error('the set is newer');
      }
      effects`,
      },
    ],
    scenario: 'remembers-late',
  },
  {
    name: 'defect-8',
    defect: 'no worker at all is an agreement (only the echoes of those who are there are asked)',
    patches: [
      {
        file: 'controller/initial-wait.ts',
        find: 'for (const instance of known) if (this.#echoes.has(instance)) present.add(instance);',
        replace: `const there = new Set([...known].filter((instance) => this.#echoes.has(instance)));
    for (const instance of there) present.add(instance);`,
      },
      { file: 'controller/initial-wait.ts', find: 'if (present.count === 0) return false;', replace: '' },
      {
        file: 'controller/initial-wait.ts',
        find: 'for (const echo of this.#echoes.values()) if (!present.isThatOf(echo) || this.#isPremature(echo)) return false;',
        replace: `for (const [instance, echo] of this.#echoes) {
      if (there.has(instance) && !present.isThatOf(echo)) return false;
    }`,
      },
    ],
    scenario: 'nobody-there',
  },
  {
    name: 'defect-9',
    defect: `a wait before KILL that is shorter than a poll ends without KILL. Ours leaves the wait to the spawner: here a
      short one is not passed on`,
    patches: [
      {
        file: 'worker/attempts.ts',
        find: "how: 'term-kill', graceMs, why } });",
        replace: "how: graceMs < 1_000 ? 'term' : 'term-kill', graceMs, why } });",
      },
    ],
    scenario: 'stubborn',
  },
  {
    name: 'defect-10',
    defect: 'the late end of a lost attempt ends its task although that has a newer attempt',
    patches: [
      {
        file: 'core/known-attempts.ts',
        find: 'if (previous !== undefined && !this.#dirty.attempts.has(previous)) this.byId.delete(previous);',
        replace: `if (this.byId.get(previous)?.outcome?.kind === 'lost') (this.byId.left ??= new Map()).set(previous, task);
    if (previous !== undefined && !this.#dirty.attempts.has(previous)) this.byId.delete(previous);`,
      },
      {
        file: 'core/task/ending.ts',
        find: `  if (record === undefined) return false;
  const decision`,
        replace: `  const left = turn.cluster.attempts.left?.get(report.attempt);
  if (record === undefined && left !== undefined) turn.task(left, { type: 'end', outcome: report.outcome }, role);
  if (record === undefined) return false;
  const decision`,
      },
      {
        file: 'core/task/table.ts',
        find: `  (view: TaskView, { number, outcome }: Of<'end'>) => {
    if (number !== view.attemptNumber) return ignore('another attempt');`,
        replace: "  (view: TaskView, { number, outcome }: Of<'end'>) => {",
      },
    ],
    scenario: 'late-end',
  },
  {
    name: 'defect-11',
    defect: 'what workers remember is compared by shard: another worker of a shard stands for the one that is cut off',
    patches: [
      {
        file: 'controller/worker-sessions.ts',
        find: 'this.#set.add(worker.instance);',
        replace: 'this.#set.add(worker.shard);',
      },
      {
        file: 'controller/worker-sessions.ts',
        find: 'this.#set.remove(worker.instance);',
        replace: 'this.#set.remove(worker.shard);',
      },
      {
        file: 'controller/worker-sessions.ts',
        find: "worker.state !== 'must-die') yield worker.instance;",
        replace: "worker.state !== 'must-die') yield worker.shard;",
      },
      {
        file: 'controller/initial-wait.ts',
        find: 'for (const instance of known) if (this.#echoes.has(instance)) present.add(instance);',
        replace: 'for (const shard of known) present.add(shard);',
      },
    ],
    scenario: 'shard-taken-over',
  },
];
