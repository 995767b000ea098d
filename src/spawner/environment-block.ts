/**
 * The environment of the next task as C wants it: the entries of its base, some of them replaced, others added.
 *
 * Owns its memory, which each task overwrites. Invariant: the variable with the i-th name goes to the i-th of `places`, and
 * every other pointer is the base's: as long as names stay the same, only their texts and pointers are written.
 */
import { CStrings, lengthOf } from './c-strings.ts';
import { VariableNames } from './variable-names.ts';

type AddressOf = (bytes: Uint8Array) => number;

export class EnvironmentBlock {
  private readonly base: CStrings;
  private readonly count: number;
  private readonly text: CStrings;
  private readonly array: CStrings;
  private readonly names = new VariableNames();
  private places: number[] = [];
  private address = 0;

  constructor(entries: readonly string[], addressOf: AddressOf) {
    this.base = CStrings.pinned(entries, addressOf);
    this.count = entries.length;
    this.text = new CStrings(addressOf);
    this.array = new CStrings(addressOf);
  }

  /** Of two variables with the same name the later counts. Returns the address of the array. */
  write(vars: readonly string[], indexOf: ReadonlyMap<string, number>): number {
    if (!this.names.areOf(vars)) this.arrange(vars, indexOf);
    this.text.reserve(lengthOf(vars) + vars.length, 0);
    const addresses = this.text.addStrings(vars);
    for (let at = 0; at < addresses.length; at++) this.array.setPointer(this.places[at] ?? 0, addresses[at] ?? 0);
    return this.address;
  }

  private arrange(vars: readonly string[], indexOf: ReadonlyMap<string, number>): void {
    const added = new Map<string, number>();
    this.places = this.names.learn(vars).map((name) => {
      const index = indexOf.get(name) ?? added.get(name) ?? this.count + added.size;
      if (index >= this.count) added.set(name, index);
      return index;
    });
    this.array.reserve(0, this.count + added.size + 1);
    this.address = this.array.nextPointer();
    this.array.pushPointersOf(this.base, this.count);
    for (let left = added.size; left >= 0; left--) this.array.pushPointer(0);
  }
}
