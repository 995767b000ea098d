/** The last things that happened, to be read when something went wrong. Texts are cut only when someone reads them. */
const entriesMax = 600;
const textMax = 220;

interface Entry {
  readonly at: number;
  readonly who: string;
  readonly what: string;
}

export class Timeline {
  readonly #ring: Entry[] = [];
  #next = 0;

  add(at: number, who: string, what: string): void {
    this.#ring[this.#next] = { at, who, what };
    this.#next = (this.#next + 1) % entriesMax;
  }

  render(start: number, lines: number): string {
    const entries = [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].slice(-lines);
    return entries.map(({ at, who, what }) => `${stamp(at - start)} ${who.padEnd(14)} ${cut(what)}`).join('\n');
  }
}

const stamp = (ms: number): string => `${(ms / 1000).toFixed(4).padStart(10)}`;

const cut = (text: string): string => (text.length > textMax ? `${text.slice(0, textMax)}…` : text);
