/** What a simulated world is made of, as those see it that watch it and meddle with it. */
import type { Client } from './client.ts';
import type { ControllerHost } from './controller-host.ts';
import type { Disk } from './disk.ts';
import type { HttpWorker } from './http-worker.ts';
import type { Kernel } from './kernel.ts';
import type { VirtualNet } from './net.ts';
import type { Truth } from './truth.ts';
import type { WorkerHost } from './worker-host.ts';

export interface Parts {
  readonly kernel: Kernel;
  readonly truth: Truth;
  readonly net: VirtualNet;
  readonly disk: Disk;
  readonly controller: ControllerHost;
  readonly hosts: readonly WorkerHost[];
  readonly httpWorkers: readonly HttpWorker[];
  readonly clients: readonly Client[];
}
