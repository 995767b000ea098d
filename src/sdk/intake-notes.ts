/** What the controller says of tasks when it takes them, summed up over the batches of a submission. */
import type { Comparison } from '../protocol/views/submissions.ts';
import type { Extended } from './requests.ts';

export class IntakeNotes {
  #comparison: Comparison | undefined;
  /** By what they say without the task that they name: each thing that is wrong is told once. */
  readonly #warnings = new Map<string, string>();

  take({ comparison, warnings = [] }: Pick<Extended, 'comparison' | 'warnings'>): void {
    if (comparison !== undefined) this.#comparison = sum(this.#comparison, comparison);
    for (const warning of warnings) {
      const what = warning.slice(warning.indexOf(' '));
      if (!this.#warnings.has(what)) this.#warnings.set(what, warning);
    }
  }

  get result(): { readonly comparison?: Comparison; readonly warnings: readonly string[] } {
    const warnings = [...this.#warnings.values()];
    return this.#comparison === undefined ? { warnings } : { warnings, comparison: this.#comparison };
  }
}

const none: Comparison = { unchanged: 0, again: 0, fresh: 0 };

const sum = (total: Comparison = none, { unchanged, again, fresh }: Comparison): Comparison => ({
  unchanged: total.unchanged + unchanged,
  again: total.again + again,
  fresh: total.fresh + fresh,
});
