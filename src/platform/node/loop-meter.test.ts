import { afterEach, describe, expect, it } from 'vitest';
import { NodeLoopMeter } from './loop-meter.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

function block(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}

describe('the delay of the event loop', () => {
  let meter: NodeLoopMeter | undefined;
  afterEach(() => meter?.stop());

  /** Its first wake-up only begins the count. */
  async function blockedFor(ms: number, windowMs?: number): Promise<NodeLoopMeter> {
    meter = new NodeLoopMeter(windowMs);
    await pause(50);
    block(ms);
    await pause(50);
    return meter;
  }

  it('shows that something kept the loop busy', async () => {
    const { p50, p99, max, overMs } = (await blockedFor(400)).read();
    expect(max).toBeGreaterThan(300);
    expect(p99).toBeLessThanOrEqual(max);
    expect(p50).toBeLessThanOrEqual(p99);
    expect(overMs).toBeGreaterThanOrEqual(490);
  });

  it('begins anew when it is told to', async () => {
    const restarted = await blockedFor(400);
    restarted.restart();
    const { overMs, max } = restarted.read();
    expect(overMs).toBeLessThan(300);
    expect(max).toBeLessThan(300);
  });

  it('1: still tells of the window before the one that has just begun', async () => {
    const turning = await blockedFor(400, 700);
    await pause(350);
    const { max, overMs } = turning.read();
    expect(max).toBeGreaterThan(300);
    expect(overMs).toBeGreaterThanOrEqual(800);
  });

  it('1: forgets what is older than that', async () => {
    const turning = await blockedFor(400, 500);
    await pause(1_100);
    expect(turning.read().max).toBeLessThan(300);
  });
});
