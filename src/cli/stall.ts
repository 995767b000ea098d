/** Notices that nothing of a workflow has moved for a while although nothing of it runs, and says once what it waits for. */
import type { WorkflowView } from '../protocol/views/workflows.ts';
import type { Client } from '../sdk/client.ts';
import { whyInShort } from './display/why.ts';
import { hasEnded } from './watch.ts';

/** Longer than what is normal between two tasks: a back-off of some seconds, a worker that is on its way. */
export const stallMs = 10_000;

export class StallWatch {
  private readonly client: Client;
  private readonly note: (text: string) => void;
  private readonly now: () => number;
  private version = -1;
  private movedAtMs = 0;
  private said: string | undefined;
  private asking: Promise<void> | undefined;

  constructor(client: Client, note: (text: string) => void, now: () => number = () => performance.now()) {
    this.client = client;
    this.note = note;
    this.now = now;
  }

  /** To be shown every view. */
  look(view: WorkflowView): void {
    const nowMs = this.now();
    const isIdle = !hasEnded(view) && view.counts.running === 0;
    if (view.version !== this.version || !isIdle) {
      this.version = view.version;
      this.movedAtMs = nowMs;
      return;
    }
    if (nowMs - this.movedAtMs < stallMs || this.asking !== undefined) return;
    this.movedAtMs = nowMs;
    this.asking = this.say(view.id);
  }

  /** Resolves when all is said that was to be. */
  get settled(): Promise<void> | undefined {
    return this.asking;
  }

  /** The same is not said twice; and that it can't be told must not end the waiting. */
  private async say(workflow: string): Promise<void> {
    try {
      const why = await this.client.whyOf(workflow);
      const kinds = JSON.stringify([why.reasons[0]?.kind, why.groups[0]?.example.reasons[0]?.kind]);
      const text = kinds === this.said ? undefined : whyInShort(why);
      this.said = kinds;
      if (text !== undefined) this.note(`drover: ${text}; 'drover why ${workflow}' tells more`);
    } catch {
      // Whoever watches hears of it by other ways.
    } finally {
      this.asking = undefined;
    }
  }
}
