/**
 * Members that take turns among those of the same priority; the highest goes first. One may be there with several
 * priorities: whoever looks at the first one checks that it still holds.
 */
import { Rota } from './rota.ts';

interface Level<Member> {
  priority: number;
  readonly rota: Rota<Member>;
}

export class PriorityRota<Member> {
  /** The highest is the last. None is empty, except where there is no other. */
  readonly #levels: Level<Member>[] = [{ priority: 0, rota: new Rota() }];

  get isEmpty(): boolean {
    return this.#levels.length === 1 && this.#top.rota.size === 0;
  }

  get priority(): number {
    return this.#top.priority;
  }

  get first(): Member | undefined {
    return this.#top.rota.first;
  }

  has(member: Member): boolean {
    return this.#levels.some(({ rota }) => rota.has(member));
  }

  /** Those of higher priority first. */
  *members(): Generator<Member> {
    for (let at = this.#levels.length - 1; at >= 0; at--) yield* this.#levels[at]?.rota.members() ?? [];
  }

  add(priority: number, member: Member): void {
    const top = this.#top;
    if (this.isEmpty) top.priority = priority;
    if (top.priority === priority) top.rota.add(member);
    else this.#level(priority).rota.add(member);
  }

  turn(): void {
    this.#top.rota.turn();
  }

  drop(): void {
    const { rota } = this.#top;
    rota.drop();
    if (rota.size === 0 && this.#levels.length > 1) this.#levels.pop();
  }

  get #top(): Level<Member> {
    return this.#levels[this.#levels.length - 1] as Level<Member>;
  }

  #level(priority: number): Level<Member> {
    let at = this.#levels.length;
    while (at > 0 && (this.#levels[at - 1] as Level<Member>).priority > priority) at--;
    const below = this.#levels[at - 1];
    if (below?.priority === priority) return below;
    const level = { priority, rota: new Rota<Member>() };
    this.#levels.splice(at, 0, level);
    return level;
  }
}
