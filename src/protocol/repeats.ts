/**
 * What the tasks of one frame have in common, such as the command of an array, travels once: a property that one lacks
 * is that of the one before.
 */

/** `names`: properties that all have. */
export class Repeats<Item extends object> {
  readonly #names: readonly (keyof Item)[];

  constructor(...names: (keyof Item)[]) {
    this.#names = names;
  }

  /** Those that are like the one before lose what they share with it. */
  leaveOut(items: readonly Item[]): Partial<Item>[] {
    return items.map((item, at) => {
      const before = items[at - 1];
      const shared = before === undefined ? [] : this.#names.filter((name) => item[name] === before[name]);
      if (shared.length === 0) return item;
      // JSON leaves out what is undefined; an object with deleted properties would be slow to write.
      const rest: { [Name in keyof Item]?: Item[Name] | undefined } = { ...item };
      for (const name of shared) rest[name] = undefined;
      return rest as Partial<Item>;
    });
  }

  /** Gives it back to them, in place. Returns whether all have it now. */
  restore(items: readonly Partial<Item>[]): items is readonly Item[] {
    let before: Partial<Item> = {};
    for (const item of items) {
      for (const name of this.#names) {
        item[name] ??= before[name];
        if (item[name] === undefined) return false;
      }
      before = item;
    }
    return true;
  }
}
