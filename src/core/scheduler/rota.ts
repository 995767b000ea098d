/** Members that take turns, in the order in which they came. One that is there already keeps its place. */
export class Rota<Member> {
  readonly #members = new Set<Member>();
  /** The members, from `#first` on; before it are places that are free again. */
  #queue: Member[] = [];
  #first = 0;

  get size(): number {
    return this.#members.size;
  }

  /** Whose turn it is. */
  get first(): Member | undefined {
    return this.#queue[this.#first];
  }

  /** In no particular order. */
  members(): Iterable<Member> {
    return this.#members;
  }

  has(member: Member): boolean {
    return this.#members.has(member);
  }

  add(member: Member): void {
    if (this.#members.has(member)) return;
    this.#members.add(member);
    this.#queue.push(member);
  }

  /** The first has had its turn: it comes again after all others. */
  turn(): void {
    const member = this.first;
    if (member === undefined || this.#members.size === 1) return;
    this.#queue.push(member);
    this.#leave();
  }

  /** The first takes no more turns. */
  drop(): void {
    const member = this.first;
    if (member === undefined) return;
    this.#members.delete(member);
    this.#leave();
  }

  #leave(): void {
    this.#first++;
    if (2 * this.#first < this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }
}
