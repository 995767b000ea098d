/** The order in which entries are written: parents first, otherwise as in the document. */
import type { Entry } from './entries.ts';
import type { Issues } from './issues.ts';

const parentsOf = ({ links }: Entry): Entry[] => links.flatMap((link) => (link.kind === 'outside' ? [] : [link.entry]));

/** Reports each cycle by its names. */
export function ordered(entries: readonly Entry[], issues: Issues): Entry[] {
  const done = new Set<Entry>();
  const order: Entry[] = [];
  for (const start of entries) {
    // Not by recursion: a chain may be as long as the document.
    const stack: { readonly entry: Entry; readonly parents: Entry[] }[] = [];
    const isOpen = new Set<Entry>();
    const enter = (entry: Entry): void => {
      stack.push({ entry, parents: parentsOf(entry) });
      isOpen.add(entry);
    };
    if (!done.has(start)) enter(start);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const parent = top.parents.shift();
      if (parent === undefined) {
        stack.pop();
        isOpen.delete(top.entry);
        done.add(top.entry);
        order.push(top.entry);
      } else if (isOpen.has(parent)) {
        const names = stack.map(({ entry }) => entry).slice(stack.findIndex(({ entry }) => entry === parent));
        const cycle = [...names, parent].map(({ name }) => name).reverse();
        issues.add([...top.entry.path, 'after'], `a cycle: ${cycle.join(' → ')}; none of them could ever start`);
      } else if (!done.has(parent)) enter(parent);
    }
  }
  return order;
}
