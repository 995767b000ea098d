/**
 * One process of the simulated world, and what is to happen to it.
 * 1. A process that has died stays dead: whoever starts it again makes a new one.
 */
export interface Event {
  time: number;
  sequence: number;
  readonly process: Process | undefined;
  readonly what: string;
  readonly run: () => void;
  isCancelled: boolean;
}

export class Process {
  readonly name: string;
  readonly machine: string;
  /** Whether what goes into it may leave promises to run. */
  readonly isAsync: boolean;
  isAlive = true;
  isSuspended = false;
  readonly backlog: Event[] = [];
  /** The type of the last message that went into it: what a crash came after. */
  lastMessage = '-';

  constructor(name: string, machine: string, isAsync = false) {
    this.name = name;
    this.machine = machine;
    this.isAsync = isAsync;
  }
}
