/** All defects that can be switched on: some of any such system, and those of Bistro. */
import { defects } from './defects.ts';
import type { Mutation } from './mutation.ts';

const general: readonly Mutation[] = [
  {
    name: 'ack-before-durable',
    defect: 'answers and acknowledgements leave before the commit',
    patches: [
      {
        file: 'controller/shell.ts',
        find: `      await this.#persist(result, inputs);
      await this.#perform(result.effects);`,
        replace: `      await this.#perform(result.effects);
      await this.#persist(result, inputs);`,
      },
    ],
    scenario: 'plain',
  },
  {
    name: 'forget-before-ack',
    defect: 'a worker forgets an end when it has sent it',
    patches: [
      {
        file: 'worker/attempts.ts',
        find: 'this.#reports.add(end, now);',
        replace: 'this.#reports.add(end, now);\n    this.forget(order.attempt);',
      },
    ],
    scenario: 'plain',
  },
  {
    name: 'give-up-early',
    defect: 'the controller gives a worker up before it must have ended itself',
    patches: [
      {
        file: 'controller/worker-care.ts',
        find: 'const { state, why, changesAt } = healthOf(worker.facts, timeouts, this.#loseAfterMs(worker), turn.now)',
        replace:
          'const { state, why, changesAt } = healthOf(worker.facts, timeouts, this.#loseAfterMs(worker) / 2, turn.now)',
      },
    ],
    scenario: 'cut-off',
  },
  {
    name: 'lease-ends-early',
    defect: 'what a worker over HTTP runs is lost before it must be dead',
    patches: [
      {
        file: 'controller/http-workers.ts',
        find: 'const by = turn.now - this.#terms.marginMs;',
        replace: 'const by = turn.now + 2 * this.#terms.marginMs;',
      },
    ],
    scenario: 'silent-http',
  },
  {
    name: 'lease-forgotten',
    defect: 'a controller that starts takes the leases of workers over HTTP for ended',
    patches: [
      {
        file: 'controller/http-workers.ts',
        find: 'worker.facts.heartbeatAt + Math.max(this.#terms.leaseMs, worker.silenceMs)',
        replace: 'worker.facts.heartbeatAt - this.#terms.marginMs',
      },
    ],
    scenario: 'silent-http-restarts',
  },
  {
    name: 'live-for-ever',
    defect: 'a worker that is cut off does not end itself, nor does its spawner',
    patches: [
      {
        file: 'worker/association.ts',
        find: 'healthOf(this.#facts, this.timeouts, ownLoseAfterMs(this.timeouts), now)',
        replace: 'healthOf(this.#facts, this.timeouts, 9 * ownLoseAfterMs(this.timeouts), now)',
      },
      {
        file: 'worker/association.ts',
        find: 'healthOf(this.#facts, this.timeouts, this.timeouts.loseAfterMs, now)',
        replace: 'healthOf(this.#facts, this.timeouts, 9 * this.timeouts.loseAfterMs, now)',
      },
    ],
    scenario: 'cut-off',
  },
  {
    name: 'overcommit',
    defect: 'a worker starts what does not fit beside what runs',
    patches: [
      {
        file: 'worker/attempts.ts',
        find: "if (verdict.type === 'waits') return;",
        replace: '',
      },
    ],
    scenario: 'needs-sent-ahead',
  },
  {
    name: 'send-again',
    defect: 'an attempt that may not have arrived is sent again instead of asked about',
    patches: [
      {
        file: 'controller/worker-care.ts',
        find: "effects.push({ type: 'send', link, message: { t: 'notify', scheduler, instance, seq, attempts } });",
        replace: `const launches = attempts.map((attempt) => ({ attempt, ...turn.cluster.attempts.get(attempt) }));
    effects.push({ type: 'run', link, instance, seq, attempts: launches });`,
      },
    ],
    scenario: 'order-lost',
  },
];

export const mutations: readonly Mutation[] = [...general, ...defects];

export function mutationOf(name: string): Mutation {
  const found = mutations.find((mutation) => mutation.name === name);
  if (found === undefined) throw new Error(`no mutation ${name}; there are ${mutations.map((m) => m.name).join(', ')}`);
  return found;
}
