/** Collects the first few, and counts the rest. */
import { whyLimits } from '../../model/limits.ts';
import type { Some } from './reason.ts';

export class Few<T> implements Some<T> {
  readonly first: T[] = [];
  count = 0;
  isCut = false;

  add(one: T): void {
    if (this.first.length < whyLimits.namedMax) this.first.push(one);
    this.count++;
  }
}
