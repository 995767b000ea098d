/** One simulated world, put together from a plan: machines, network, disk, clients, faults, checks. */
import { Client } from './client.ts';
import { ControllerHost } from './controller-host.ts';
import { Disk } from './disk.ts';
import { HttpWorker } from './http-worker.ts';
import { Injector } from './injector.ts';
import { Checks } from './invariants.ts';
import { Kernel } from './kernel.ts';
import { VirtualNet } from './net.ts';
import type { Parts } from './parts.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';
import { Truth } from './truth.ts';
import { WorkerHost } from './worker-host.ts';

export class World implements Parts {
  readonly kernel = new Kernel();
  readonly truth = new Truth();
  readonly net: VirtualNet;
  readonly disk: Disk;
  readonly controller: ControllerHost;
  readonly hosts: readonly WorkerHost[];
  readonly httpWorkers: readonly HttpWorker[];
  readonly clients: readonly Client[];
  readonly injector: Injector;
  readonly checks: Checks;

  constructor(plan: Plan) {
    const { kernel, truth } = this;
    const random = new Random(plan.seed).fork('world');
    const net = new VirtualNet(kernel, random.fork('net'));
    this.net = net;
    this.disk = new Disk(kernel, random.fork('disk'));
    const context = { kernel, net, truth, random };
    this.controller = new ControllerHost(this.disk, plan, context);
    this.hosts = plan.workers.map((worker) => new WorkerHost(worker, context));
    this.httpWorkers = (plan.httpWorkers ?? []).map((worker) => new HttpWorker(worker, context, this.controller));
    this.clients = plan.clients.map((client) => new Client(client, kernel, this.controller));
    this.checks = new Checks(this);
    this.injector = new Injector(this, plan.faults, () => this.checks.onRestored());
    this.#watch();
  }

  #watch(): void {
    const { kernel, truth, net, disk, controller, injector, checks } = this;
    kernel.afterStep = (process) => checks.afterStep(process);
    truth.watcher = checks;
    net.watcher = {
      onSend: (side, frame) => {
        checks.onSend(side, frame);
        injector.onSend(side, frame);
      },
      onDelivered: (side, frame) => {
        checks.onDelivered(side, frame);
        injector.onDelivered(frame);
      },
      onOpened: (client) => injector.onOpened(client),
    };
    disk.watcher = {
      onCommit: (batch) => checks.onCommit(batch),
      nextFault: () => {
        const fault = injector.nextCommitFault();
        if (fault?.type === 'fails') controller.isDoomed = true;
        return fault;
      },
      crash: (why) => controller.crash(why, 300),
    };
    controller.onRecovered = (shell) => checks.onRecovered(shell);
    controller.onTurn = () => checks.onTurn();
  }
}
