/** One plan, from the beginning to the end: what it did, and what it found. */
import { beginning } from './kernel.ts';
import { settle } from './liveness.ts';
import type { Plan } from './plan.ts';
import { World } from './world.ts';

export interface RunResult {
  readonly seed: number;
  readonly steps: number;
  readonly hash: string;
  readonly simulatedMs: number;
  readonly tasksStarted: number;
  readonly restarts: number;
  /** By kind and type of message. */
  readonly faults: Readonly<Record<string, number>>;
  readonly violation?: { readonly invariant: string; readonly message: string; readonly timeline: string };
}

const timelineLines = 150;

export async function runPlan(plan: Plan, lines = timelineLines): Promise<RunResult> {
  const world = new World(plan);
  const { kernel, injector, truth, controller } = world;
  const onRejection = (error: unknown): void =>
    kernel.fail('18', `a promise nobody waits for: ${String((error as Error).stack ?? error)}`);
  process.on('unhandledRejection', onRejection);
  try {
    await kernel.runUntil(beginning + plan.faultyMs);
    await settle(world);
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  const { violation } = kernel;
  return {
    seed: plan.seed,
    steps: kernel.steps,
    hash: (kernel.hash >>> 0).toString(16).padStart(8, '0'),
    simulatedMs: Math.round(kernel.now - beginning),
    tasksStarted: truth.started,
    restarts: controller.starts - 1,
    faults: Object.fromEntries(injector.counts),
    ...(violation === undefined
      ? {}
      : {
          violation: {
            invariant: violation.invariant,
            message: violation.message,
            timeline: kernel.timeline.render(beginning, lines),
          },
        }),
  };
}
