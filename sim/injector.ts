/**
 * Makes the faults of a plan happen, and counts what they struck.
 *
 * Owns: the faults that wait for a frame or a commit, partitions that last, texts to be replayed.
 * 1. A fault strikes at most once, and nothing after the world was healed.
 */
import type { CommitFault } from './disk.ts';
import {
  type Fault,
  type FrameFault,
  isFrameFault,
  isMachineFault,
  type MachineFaultKind,
  type TimedFault,
} from './faults.ts';
import type { Frame, Side } from './net.ts';
import type { Parts } from './parts.ts';
import type { Process } from './process.ts';
import { Random } from './random.ts';
import { drawSettings } from './settings.ts';
import { controllerMachine, type WorkerHost } from './worker-host.ts';

interface Replay {
  readonly machine: string;
  readonly path: string;
  readonly isToServer: boolean;
  readonly frame: Frame;
}

/** A controller's clock is off by less: its tasks wait by it. */
const controllerJumpShare = 0.01;
const rapidRestarts = 6;
const rapidRestartMs = 40;
const otherwiseMs = 400;

export class Injector {
  readonly #world: Parts;
  readonly #onRestored: () => void;
  /** By kind and type of message. */
  readonly counts = new Map<string, number>();
  #waiting: FrameFault[] = [];
  #commits: CommitFault[] = [];
  #replays: Replay[] = [];
  readonly #onArrival = new Map<Frame, () => void>();
  readonly #lasting = new Set<() => void>();
  #isHealed = false;

  constructor(world: Parts, faults: readonly Fault[], onRestored: () => void) {
    this.#world = world;
    this.#onRestored = onRestored;
    for (const fault of faults) {
      world.kernel.post(undefined, fault.atMs, fault.kind, () => {
        if (this.#isHealed) return;
        if (isFrameFault(fault)) this.#waiting.push(fault);
        else this.#strikeInTime(fault);
      });
    }
  }

  heal(): void {
    this.#isHealed = true;
    this.#waiting = [];
    this.#commits = [];
    this.#replays = [];
    for (const end of [...this.#lasting]) end();
    this.#world.controller.resume();
    for (const host of this.#world.hosts) host.resume();
  }

  onSend(side: Side, frame: Frame): void {
    if (this.#waiting.length === 0) return;
    const machine = (side.isServer ? side.peer : side)?.process.machine;
    const at = this.#waiting.findIndex(
      ({ message, worker }) =>
        frame.types.includes(message) && (worker === undefined || this.#world.hosts[worker]?.machine === machine),
    );
    if (at === -1) return;
    const [fault] = this.#waiting.splice(at, 1) as [FrameFault];
    this.#strike(fault, side, frame);
  }

  onDelivered(frame: Frame): void {
    const act = this.#onArrival.get(frame);
    if (act === undefined) return;
    this.#onArrival.delete(frame);
    act();
  }

  onOpened(client: Side): void {
    const { machine } = client.process;
    const mine = this.#replays.filter((replay) => replay.machine === machine && replay.path === client.path);
    this.#replays = this.#replays.filter((replay) => !mine.includes(replay));
    for (const { isToServer, frame } of mine) {
      const to = isToServer ? client.peer : client;
      if (to !== undefined) this.#world.net.replay(to, frame, client.random.between(0, 3_000));
    }
  }

  nextCommitFault(): CommitFault | undefined {
    return this.#commits.shift();
  }

  #count(kind: string, message: string): void {
    const key = `${kind} ${message}`;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
  }

  #strike({ kind, message, ms }: FrameFault, side: Side, frame: Frame): void {
    const { net, kernel } = this.#world;
    this.#count(kind, message);
    kernel.note('FAULT', `${kind} ${message} ${side.path}#${side.link}`);
    switch (kind) {
      case 'delay':
        return net.delay(side, ms);
      case 'lost':
        return ms % 2 === 0 ? net.reset(side) : net.resetAll(side);
      case 'unanswered':
        return void this.#onArrival.set(frame, () => net.reset(side));
      case 'half-open':
        return net.halfOpen(side);
      case 'replay': {
        const { isServer, path } = side;
        const { machine } = (isServer ? side.peer : side)?.process ?? side.process;
        this.#replays.push({ machine, path, isToServer: !isServer, frame });
        return;
      }
      case 'sender-dies':
        net.transmit(side, { type: 'frame', frame });
        return this.#crash(side.process, ms);
      case 'receiver-dies':
        return void (side.peer && this.#crash(side.peer.process, ms));
      case 'reader-dies':
        return void this.#onArrival.set(frame, () => side.peer && this.#crash(side.peer.process, ms));
    }
  }

  #crash(process: Process, ms: number): void {
    const { controller, hosts } = this.#world;
    if (process === controller.process) return controller.crash('as the seed says', ms);
    hosts.find((host) => host.process === process)?.crash(ms, false);
  }

  #strikeInTime(fault: TimedFault): void {
    const { controller, kernel, hosts } = this.#world;
    const { kind, worker, ms } = fault;
    const host = hosts[worker % hosts.length];
    if (host === undefined) return;
    const isWorkers = isMachineFault(kind);
    this.#count(kind, (isWorkers ? host.process : controller.process).lastMessage);
    kernel.note('FAULT', `${kind} ${isWorkers ? host.machine : ''} ${ms}`);
    if (isWorkers) this.#strikeMachine(kind, host, ms);
    else this.#strikeController(fault, host);
  }

  #strikeMachine(kind: MachineFaultKind, host: WorkerHost, ms: number): void {
    const { machine } = host;
    switch (kind) {
      case 'crash-worker':
        return host.crash(ms, false);
      case 'power-off':
        return host.crash(ms, true);
      case 'crash-spawner':
        return host.spawner?.die('as the seed says');
      case 'suspend-worker':
      case 'suspend-machine':
        host.suspend(kind === 'suspend-machine');
        return this.#after(ms, () => host.resume());
      case 'stop-spawner':
        host.suspendSpawner();
        return this.#after(ms, () => host.resume());
      case 'partition':
        return this.#block([machine], ms, true, true);
      case 'one-way-in':
        return this.#block([machine], ms, true, false);
      case 'one-way-out':
        return this.#block([machine], ms, false, true);
      case 'failing-checks':
      case 'bad-node': {
        const flag = kind === 'bad-node' ? 'isBad' : 'isSick';
        host[flag] = true;
        return this.#after(ms, () => {
          host[flag] = false;
        });
      }
    }
  }

  #strikeController(fault: TimedFault, host: WorkerHost): void {
    const { controller, hosts } = this.#world;
    const { kind, ms } = fault;
    switch (kind) {
      case 'crash-controller':
        return controller.crash('as the seed says', ms);
      case 'stop-controller':
        controller.suspend();
        return this.#after(ms, () => controller.resume());
      case 'other-settings':
        controller.settings = drawSettings(new Random(ms));
        return controller.crash('to be started otherwise', otherwiseMs);
      case 'rapid-restarts':
        return this.#restartRapidly(rapidRestarts);
      case 'restore':
        return this.#restore(fault);
      case 'isolation': {
        const all = hosts.map(({ machine }) => machine);
        return this.#block(all, ms, true, true);
      }
      case 'clock-jump':
        host.wallOffsetMs += ms;
        controller.wallOffsetMs += ms * controllerJumpShare;
        return;
      case 'slow-commit':
        return void this.#commits.push({ type: 'slow', ms });
      case 'failing-commit':
        return void this.#commits.push({ type: 'fails' });
      case 'crash-in-commit':
      case 'crash-after-commit':
        return void this.#commits.push({ type: 'crash', isWritten: kind === 'crash-after-commit' });
    }
  }

  #block(machines: readonly string[], ms: number, isIn: boolean, isOut: boolean): void {
    const { net } = this.#world;
    const ends = machines.flatMap((machine) => [
      ...(isIn ? [net.block(controllerMachine, machine)] : []),
      ...(isOut ? [net.block(machine, controllerMachine)] : []),
    ]);
    this.#after(ms, () => {
      for (const end of ends) end();
    });
  }

  /** Once: after that time, or when the world is healed. */
  #after(ms: number, end: () => void): void {
    const once = (): void => {
      if (this.#lasting.delete(once)) end();
    };
    this.#lasting.add(once);
    this.#world.kernel.post(undefined, ms, 'it passes', once);
  }

  #restartRapidly(left: number): void {
    const { controller, kernel } = this.#world;
    if (left === 0 || this.#isHealed) return;
    controller.crash('again', rapidRestartMs);
    kernel.post(undefined, rapidRestartMs * (left + 1), 'again', () => this.#restartRapidly(left - 1));
  }

  #restore({ ms, ageMs = 0 }: TimedFault): void {
    const { controller, disk, kernel } = this.#world;
    const commits = disk.commitsAt(kernel.now - ageMs);
    controller.crash('its disk is replaced by a backup', ms, async () => {
      await disk.restore(commits);
      controller.restores++;
      this.#onRestored();
    });
  }
}
