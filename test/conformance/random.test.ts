/** The two reactors under whatever may happen between them; the bench watches every process that starts. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { assert } from '../../src/model/errors.ts';
import { isEndedTask, type TaskState } from '../../src/model/states.ts';
import { type PresetName, presets } from '../../src/model/timeouts.ts';
import { madeUp } from '../set-up/made-up.ts';
import { Bench } from './bench.ts';
import type { Host } from './host.ts';

const shards = ['a', 'b'];

/** So that up to twice the time after which a worker is lost can pass at once. */
const unitMs = ({ timeouts }: Bench): number => timeouts.loseAfterMs / 1_000;

type Act = (bench: Bench, host: Host, number: number) => void;

/** Of each kind one thing that happens; the number says how much of it. */
const acts = {
  toController: (bench, host, number) => {
    for (let left = 1 + (number % 5); left > 0; left--) bench.deliver(host, 'controller');
  },
  toWorker: (bench, host, number) => {
    for (let left = 1 + (number % 5); left > 0; left--) bench.deliver(host, 'worker');
  },
  flow: (bench) => bench.flow(),
  cut: (bench, host) => void bench.cut(host),
  /** The controller does not notice; it will when the worker is back, or when it was silent for too long. */
  loseSilently: (bench, host) => bench.dropWire(host),
  connect: (bench, host) => bench.connect(host),
  endTask: (bench, host, number) => {
    const attempt = [...host.alive][number % Math.max(1, host.alive.size)];
    if (attempt !== undefined) host.endTask(attempt, number % 3 === 0 ? 1 : 0, bench.now);
  },
  pass: (bench, _, number) => bench.pass(number * unitMs(bench), ...bench.hosts),
  passFlowing: (bench, host, number) => bench.pass(number * unitMs(bench), host),
  failCheck: (_, host, number) => {
    host.check = number % 2 === 0 ? 'good' : 'bad';
  },
  /** Messages on their way arrive, and arrive again later, maybe over another link. */
  duplicate: (bench, host, number) => {
    const [forWorker, forController] = [host.wire?.toWorker[0], host.wire?.toController[0]];
    bench.deliver(host, 'worker');
    bench.deliver(host, 'controller');
    if (number % 2 === 0) bench.cut(host);
    if (number % 4 === 0) bench.connect(host);
    if (forWorker !== undefined) bench.hand(host, forWorker);
    if (forController !== undefined && host.wire !== undefined) bench.say(host.wire.id, forController);
  },
  submit: (bench) => bench.submit(),
  restart: (bench) => bench.restart(),
  crash: (bench, host) => bench.kill(host),
  replace: (bench, host) => {
    if (host.isDead) bench.connect(bench.spawn(host.options.identity.shard, { slots: 4 }));
  },
} satisfies Record<string, Act>;

const names = Object.keys(acts) as (keyof typeof acts)[];
const weighted = [
  ...names,
  'flow',
  'flow',
  'connect',
  'connect',
  'toController',
  'toWorker',
  'replace',
  'pass',
] as const;
const operation = fc.record({
  name: fc.constantFrom(...weighted),
  host: fc.nat(1),
  number: fc.nat(2_000),
});

const current = (bench: Bench, shard: string | undefined): Host => {
  const host = bench.hosts.findLast(({ options }) => options.identity.shard === shard);
  assert(host !== undefined, 'each shard has a host');
  return host;
};

/** Faults end: links come back, what died is replaced, tasks end. */
function heal(bench: Bench): void {
  for (let round = 0; round < 150 && unfinished(bench) !== undefined; round++) {
    for (const shard of shards) {
      let host = current(bench, shard);
      host.check = 'good';
      if (host.isDead) host = bench.spawn(shard, { slots: 4 });
      if (host.wire === undefined) bench.connect(host);
    }
    bench.flow();
    for (const host of bench.hosts) for (const attempt of [...host.alive]) host.endTask(attempt, 0, bench.now);
    bench.pass(1_000);
  }
}

/** Whoever is given up is dead: else what it ran could be tried again beside it. */
function mustBeDeadIfGone(bench: Bench): void {
  for (const host of bench.hosts) {
    const isGone = host.alive.size > 0 && bench.knows(host) && bench.record(host).state === 'gone';
    assert(!isGone, `${host.instance} is gone and runs ${[...host.alive].join()}`);
  }
}

/** What is not over, if anything. */
function unfinished(bench: Bench): string | undefined {
  const { cluster } = bench.controller;
  for (const [id, { state }] of cluster.attempts) if (state === 'unsure') return `attempt ${id} is unsure`;
  for (let task = 1; task <= cluster.tasks.size; task++) {
    if (!isEndedTask(bench.task(task) as TaskState)) return `task ${task} is ${bench.task(task)}`;
  }
  for (const shard of shards) {
    const host = current(bench, shard);
    if (host.isDead || bench.record(host).state !== 'healthy') return `the worker of ${shard} is not healthy`;
    if (host.worker.held.size > 0) return `${host.worker.held.size} attempts are left on ${shard}`;
  }
  return undefined;
}

describe.each(Object.keys(presets) as PresetName[])(
  'a controller and two workers under random faults (%s)',
  (preset) => {
    it('E21, E31: never start an attempt twice nor a task beside itself, and when faults end everything ends', () => {
      fc.assert(
        fc.property(fc.array(operation, { minLength: 5, maxLength: 60 }), (operations) => {
          const bench = new Bench({ timeouts: presets[preset] });
          for (const shard of shards) bench.ready(shard, { slots: 4 });
          bench.submit(4);
          for (const { name, host, number } of operations) {
            acts[name](bench, current(bench, shards[host]), number);
            mustBeDeadIfGone(bench);
          }
          heal(bench);
          const left = unfinished(bench);
          assert(left === undefined, left ?? '');
        }),
        madeUp(150),
      );
    });
  },
);
