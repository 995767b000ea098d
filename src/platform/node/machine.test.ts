import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { gpusHere, gpusIn, memoryHere } from './machine.ts';

describe('what a machine has', () => {
  it('is no more memory than there is', () => {
    expect(memoryHere()).toBeGreaterThan(0);
    expect(memoryHere()).toBeLessThanOrEqual(totalmem());
  });

  it('is the GPUs that the process may use', () => {
    expect(['', '-1', '0', '0,2', 'GPU-a, GPU-b ,'].map((visible) => gpusHere(visible))).toEqual([0, 0, 1, 2, 2]);
    const list =
      'GPU 0: NVIDIA A100 (UUID: GPU-1)\n  MIG 1g.5gb Device 0: (UUID: x)\nGPU 1: NVIDIA A100 (UUID: GPU-2)\n';
    expect([gpusIn(list), gpusIn('No devices found.\n')]).toEqual([2, 0]);
  });
});
