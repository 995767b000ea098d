/**
 * The machine of the controller: starts it from the disk, and starts it again when it has died.
 *
 * Owns: the controller's process, one after the other, each with a scheduler id of its own.
 */
import type { ControllerSettings } from '../src/controller/reactor.ts';
import { recoverController } from '../src/controller/recover.ts';
import type { ControllerShell, ControllerWorld } from '../src/controller/shell.ts';
import { virtualClock } from './clock.ts';
import type { Disk } from './disk.ts';
import type { Plan } from './plan.ts';
import { Process } from './process.ts';
import { controllerMachine, type HostContext, silentLog } from './worker-host.ts';

const startAgainMs = 400;

export class ControllerHost {
  readonly disk: Disk;
  readonly #context: HostContext;
  readonly #driftPpm: number;
  process: Process;
  shell: ControllerShell | undefined;
  wallOffsetMs = 0;
  /** Of the next one. */
  settings: ControllerSettings;
  /** A commit was made to fail: the process is about to end itself. */
  isDoomed = false;
  /** How often its disk was replaced by a backup. */
  restores = 0;
  /** Called with each controller that has recovered. */
  onRecovered: (shell: ControllerShell) => void = () => {};
  /** Called when a turn begins, with all that has come by then. */
  onTurn: () => void = () => {};
  #starts = 0;
  /** Whoever waits for an answer of the controller that just died. */
  readonly #mourners = new Set<() => void>();

  constructor(disk: Disk, start: Pick<Plan, 'controllerDriftPpm' | 'settings'>, context: HostContext) {
    this.disk = disk;
    this.#driftPpm = start.controllerDriftPpm;
    this.settings = start.settings;
    this.#context = context;
    this.process = this.#start();
  }

  get starts(): number {
    return this.#starts;
  }

  crash(why: string, restartMs: number, before: () => Promise<void> = async () => {}): void {
    const { kernel, net } = this.#context;
    const { process } = this;
    if (!process.isAlive) return;
    kernel.note(process.name, `crashes: ${why}`);
    process.isAlive = false;
    this.shell = undefined;
    this.isDoomed = false;
    net.server = undefined;
    net.onDied(process, false);
    kernel.post(undefined, restartMs, 'restart', () => {
      kernel.drainNext();
      void before().then(() => {
        if (!this.process.isAlive) this.process = this.#start();
      });
    });
    for (const mourn of [...this.#mourners]) mourn();
    kernel.drainNext();
  }

  suspend(): void {
    const { kernel, net } = this.#context;
    if (!this.process.isAlive || this.process.isSuspended) return;
    kernel.note(this.process.name, 'the controller is stopped');
    this.process.isSuspended = true;
    net.onSuspended(this.process);
  }

  resume(): void {
    if (this.process.isSuspended) this.#context.kernel.resume(this.process);
  }

  /** Resolves when this controller dies. */
  died(): { readonly promise: Promise<void>; cancel(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const mourn = (): void => {
      this.#mourners.delete(mourn);
      resolve();
    };
    this.#mourners.add(mourn);
    return { promise, cancel: () => this.#mourners.delete(mourn) };
  }

  #start(): Process {
    const { kernel } = this.#context;
    const process = new Process(`${controllerMachine}.${++this.#starts}`, controllerMachine, true);
    kernel.post(process, 5, 'recovers', () => {
      recoverController(this.#world(process), process.name, this.settings).then(
        (shell) => this.#serve(process, shell),
        (error: unknown) => kernel.fail('18', `recovery failed: ${textOf(error)}`),
      );
    });
    return process;
  }

  #serve(process: Process, shell: ControllerShell): void {
    if (!process.isAlive) return;
    this.shell = shell;
    this.#context.net.server = { process, accept: (link) => shell.acceptLink(link) };
    this.onRecovered(shell);
  }

  #world(process: Process): ControllerWorld {
    const { kernel } = this.#context;
    return {
      clock: virtualClock(kernel, process, { offsetMs: this.wallOffsetMs, driftPpm: this.#driftPpm }),
      store: this.disk.open(process),
      packs: this.disk.packs,
      log: silentLog,
      defer: (callback) => {
        kernel.post(process, 0, 'turn', () => {
          this.onTurn();
          callback();
        });
      },
      onFatal: (error) => {
        if (!process.isAlive) return;
        if (this.isDoomed) this.crash('a commit failed', startAgainMs);
        else kernel.fail('18', `the controller ended: ${textOf(error)}`);
      },
    };
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));
