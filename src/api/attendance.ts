/**
 * Who uses a controller that a command hosts, so that the host does not end under them: a client that announces itself
 * is awaited until it leaves, or until nobody has asked anything for so long that it must be dead.
 */
import { DroverError } from '../model/errors.ts';

/** Longer than a client that reads a slow input, or waits for news, stays silent. */
const silenceMsMax = 45_000;

export class Attendance {
  #present = 0;
  #heardAt = 0;
  #isWithdrawn = false;

  announce(): void {
    if (this.#isWithdrawn) throw new DroverError('controller-stopping', 'the controller is stopping');
    this.#present++;
  }

  leave(): void {
    this.#present = Math.max(0, this.#present - 1);
  }

  heard(now: number): void {
    this.#heardAt = now;
  }

  /** From now on nobody is let in; false when somebody is still here. */
  withdraw(now: number): boolean {
    if (this.#present > 0 && now - this.#heardAt < silenceMsMax) return false;
    this.#isWithdrawn = true;
    return true;
  }
}
