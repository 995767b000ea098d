/**
 * The names in the variables of one task after another: mostly those of the one before, and then what was worked out of
 * them holds on. To see that costs less than to cut out a single name.
 */
export class VariableNames {
  /** undefined: unlike any. */
  private prefixes: readonly string[] | undefined;

  /** Whether these are the names that were learnt last, in the same order. */
  areOf(vars: readonly string[]): boolean {
    const { prefixes } = this;
    if (prefixes?.length !== vars.length) return false;
    for (let at = 0; at < vars.length; at++) if (!vars[at]?.startsWith(prefixes[at] as string)) return false;
    return true;
  }

  learn(vars: readonly string[]): string[] {
    const names = vars.map(nameOf);
    // Without `=` there is nothing that ends the name.
    const areWhole = vars.every((entry) => entry.includes('='));
    this.prefixes = areWhole ? names.map((name) => `${name}=`) : undefined;
    return names;
  }
}

export function nameOf(entry: string): string {
  const at = entry.indexOf('=');
  return at < 0 ? entry : entry.slice(0, at);
}
