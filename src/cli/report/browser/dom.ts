/** What the script of the page uses of the DOM, and no more: the rest of Drover has none. */

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface PageEvent {
  readonly target: PageElement;
  readonly key: string;
  readonly clientX: number;
  readonly clientY: number;
  readonly deltaX: number;
  readonly deltaY: number;
  readonly buttons: number;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  preventDefault(): void;
}

export interface PageElement {
  textContent: string | null;
  hidden: boolean;
  readonly style: Record<string, string>;
  readonly dataset: Record<string, string | undefined>;
  readonly classList: { add(name: string): void; remove(name: string): void; toggle(name: string, on: boolean): void };
  setAttribute(name: string, value: string): void;
  getBoundingClientRect(): Box;
  addEventListener(type: string, listener: (event: PageEvent) => void, options?: { passive: boolean }): void;
  querySelectorAll(selector: string): Iterable<PageElement>;
  querySelector(selector: string): PageElement | null;
  closest(selector: string): PageElement | null;
  replaceChildren(...children: PageElement[]): void;
  append(...children: (PageElement | string)[]): void;
}

export interface PageDocument {
  getElementById(id: string): PageElement | null;
  createElement(name: string): PageElement;
  readonly documentElement: { readonly clientWidth: number; readonly clientHeight: number };
}
