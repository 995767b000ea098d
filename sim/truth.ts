/**
 * What really runs, whatever controller and workers believe: every process of a task, from its start to its end.
 *
 * Owns: the processes that live.
 */
export interface RealProcess {
  readonly attempt: number;
  /** Names the task for good: unlike ids, it survives the loss of a store. */
  readonly task: string;
  readonly machine: string;
  /** Of the worker that it was started for. */
  readonly instance: string;
  readonly startedAt: number;
  readonly isLicensed: boolean;
}

export interface TruthWatcher {
  onStart(process: RealProcess, others: readonly RealProcess[]): void;
}

export class Truth {
  readonly live = new Set<RealProcess>();
  readonly #byTask = new Map<string, Set<RealProcess>>();
  readonly #byInstance = new Map<string, Set<RealProcess>>();
  watcher: TruthWatcher | undefined;
  started = 0;

  start(process: RealProcess): void {
    const ofTask = setIn(this.#byTask, process.task);
    const others = [...ofTask];
    ofTask.add(process);
    setIn(this.#byInstance, process.instance).add(process);
    this.live.add(process);
    this.started++;
    this.watcher?.onStart(process, others);
  }

  end(process: RealProcess): void {
    this.live.delete(process);
    this.#byTask.get(process.task)?.delete(process);
    this.#byInstance.get(process.instance)?.delete(process);
  }

  ofInstance(instance: string): ReadonlySet<RealProcess> {
    return this.#byInstance.get(instance) ?? none;
  }
}

const none: ReadonlySet<RealProcess> = new Set();

function setIn(sets: Map<string, Set<RealProcess>>, key: string): Set<RealProcess> {
  const found = sets.get(key) ?? new Set();
  sets.set(key, found);
  return found;
}
