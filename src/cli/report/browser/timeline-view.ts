/**
 * What runs in the page: zoom, pan, hover and keys on the timeline. All else of the page is there without it. Owns which part of the time is
 * shown, and which bar is chosen.
 *
 * The text of the class is put into the page as it is (script.ts), so that there is no second bundle: it refers to nothing but what it is
 * given.
 */
import type { Cuts, lateShare, plotUnits, realMs, showMs, ticksOf } from './axis.ts';
import type { PageDocument, PageElement, PageEvent } from './dom.ts';

/** What the page has for it, all of it ready to be shown. */
export interface PageData {
  /** Without what is cut out, as all that is drawn. */
  readonly spanMs: number;
  /** Where something is cut out, and how much. */
  readonly cuts: Cuts;
  readonly beginMs: number;
  /** Rows of `attempt, lane, start, ms, how it ended`, in the order in which they are drawn. */
  readonly bars: readonly (readonly [string, number, number, number, string])[];
  /** By the ids of tasks. */
  readonly tasks: Readonly<Record<string, { readonly name?: string; readonly command?: string }>>;
  readonly lanes: readonly { readonly label: string; readonly busy?: readonly number[] }[];
  readonly bucketMs: number;
  /** Rows of a name and a value for each bucket. */
  readonly series: readonly (readonly [string, readonly number[]])[];
}

/** What it needs of the axis. */
export interface Axis {
  readonly lateShare: typeof lateShare;
  readonly plotUnits: typeof plotUnits;
  readonly realMs: typeof realMs;
  readonly showMs: typeof showMs;
  readonly ticksOf: typeof ticksOf;
}

/** The elements that it works on. */
export interface Chart {
  readonly chart: PageElement;
  readonly tip: PageElement;
  readonly cursor: PageElement;
  readonly grid: PageElement;
}

export class TimelineView {
  readonly #document: PageDocument;
  readonly #axis: Axis;
  readonly #data: PageData;
  readonly #on: Chart;
  readonly #plots: readonly PageElement[];
  readonly #rects: readonly PageElement[];
  readonly #indexOf: ReadonlyMap<PageElement, number>;
  readonly #actions: ReadonlyMap<string, () => void>;
  #from = 0;
  #to: number;
  #chosen = -1;
  #dragX: number | undefined;

  constructor(document: PageDocument, axis: Axis, data: PageData, on: Chart) {
    this.#document = document;
    this.#axis = axis;
    this.#data = data;
    this.#on = on;
    this.#to = data.spanMs;
    this.#plots = [...on.chart.querySelectorAll('svg[data-height]')];
    this.#rects = [...on.chart.querySelectorAll('.bar')];
    this.#indexOf = new Map(this.#rects.map((rect, at) => [rect, at]));
    this.#actions = new Map([
      ['+', () => this.#zoom(0.5, this.#middle())],
      ['=', () => this.#zoom(0.5, this.#middle())],
      ['-', () => this.#zoom(2, this.#middle())],
      ['0', () => this.#zoom(Number.POSITIVE_INFINITY, 0)],
      ['Escape', () => this.#hide()],
    ]);
    this.#listen();
    this.#draw();
  }

  #listen(): void {
    const { chart } = this.#on;
    chart.addEventListener('pointermove', (event) => this.#onMove(event));
    chart.addEventListener('pointerleave', () => this.#hide());
    chart.addEventListener('blur', () => this.#hide());
    chart.addEventListener('pointerdown', ({ clientX }) => {
      this.#dragX = clientX;
    });
    chart.addEventListener('pointerup', () => {
      this.#dragX = undefined;
    });
    chart.addEventListener('dblclick', (event) => this.#zoom(0.4, this.#atPointer(event)));
    chart.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
    chart.addEventListener('keydown', (event) => this.#onKey(event));
    const zoomer = this.#document.getElementById('zoom');
    for (const button of zoomer?.querySelectorAll('button') ?? []) {
      button.addEventListener('click', () => this.#actions.get(button.dataset.key ?? '')?.());
    }
    if (zoomer !== null) zoomer.hidden = false;
  }

  /** Where a time is, as a part of what is shown. */
  #part(ms: number): number {
    return (ms - this.#from) / (this.#to - this.#from);
  }

  #draw(): void {
    const { spanMs, bars, cuts } = this.#data;
    const { lateShare: late, plotUnits: units, showMs: show, ticksOf: ticks } = this.#axis;
    const [from, to] = [this.#from, this.#to];
    const [x, width] = [(from / spanMs) * units, ((to - from) / spanMs) * units];
    for (const plot of this.#plots) plot.setAttribute('viewBox', `${x} 0 ${width} ${plot.dataset.height}`);
    const pixels = this.#on.grid.getBoundingClientRect().width;
    // A bar that is narrow has no line around it: nothing of it would be left.
    for (const [at, rect] of this.#rects.entries()) {
      rect.classList.toggle('wide', ((bars[at]?.[3] ?? 0) / (to - from)) * pixels > 4);
    }
    const marks = ticks(from, to, Math.max(2, Math.floor(pixels / 90)), cuts).map(({ ms, label }) =>
      this.#mark('span', ms, this.#part(ms) > 0.95 ? '' : label),
    );
    const gaps = cuts.map(([at, ms]) => this.#mark('i', at, `${show(ms)} idle`));
    for (const [index, [at]] of cuts.entries()) gaps[index]?.classList.toggle('late', this.#part(at) > late);
    this.#on.grid.replaceChildren(...marks, ...gaps);
    this.#on.chart.classList.toggle('zoomed', to - from < spanMs);
  }

  #mark(kind: string, ms: number, text: string): PageElement {
    const mark = this.#document.createElement(kind);
    mark.style.left = `${100 * this.#part(ms)}%`;
    mark.textContent = text;
    return mark;
  }

  #zoom(factor: number, atMs: number): void {
    const { spanMs } = this.#data;
    const length = Math.min(spanMs, Math.max(Math.min(spanMs, 1), (this.#to - this.#from) * factor));
    this.#show(atMs - this.#part(atMs) * length, length);
  }

  #pan(ms: number): void {
    this.#show(this.#from + ms, this.#to - this.#from);
  }

  #show(fromMs: number, length: number): void {
    this.#from = Math.max(0, Math.min(this.#data.spanMs - length, fromMs));
    this.#to = this.#from + length;
    this.#draw();
  }

  /** Of the bar that is chosen, or of what is shown. */
  #middle(): number {
    const [, , start, ms] = this.#data.bars[this.#chosen] ?? ['', 0, (this.#from + this.#to) / 2, 0];
    return start + ms / 2;
  }

  #atPointer({ clientX }: PageEvent): number {
    const { left, width } = this.#on.grid.getBoundingClientRect();
    return this.#from + ((clientX - left) / width) * (this.#to - this.#from);
  }

  #onMove(event: PageEvent): void {
    const { left, width } = this.#on.grid.getBoundingClientRect();
    if (event.clientX < left || event.clientX > left + width) return this.#hide();
    if (this.#dragX !== undefined && event.buttons === 1) {
      this.#pan(((this.#dragX - event.clientX) / width) * (this.#to - this.#from));
      this.#dragX = event.clientX;
    }
    const ms = Math.min(this.#data.spanMs, Math.max(0, this.#atPointer(event)));
    this.#on.cursor.hidden = false;
    this.#on.cursor.style.left = `${100 * this.#part(ms)}%`;
    const at = this.#indexOf.get(event.target) ?? -1;
    this.#choose(at);
    if (at < 0) this.#tellTime(ms, event.target.closest('[data-lane]'));
    else this.#tellBar(at);
    this.#place(event.clientX, event.clientY);
  }

  #onWheel(event: PageEvent): void {
    const isPan = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!isPan && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (isPan) this.#pan((event.deltaX / 1_000) * (this.#to - this.#from));
    else this.#zoom(event.deltaY > 0 ? 1.25 : 0.8, this.#atPointer(event));
  }

  #onKey(event: PageEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isArrow = event.key.startsWith('Arrow') && this.#rects.length > 0;
    const action = this.#actions.get(event.key) ?? (isArrow ? () => this.#onArrow(event.key) : undefined);
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #onArrow(key: string): void {
    const at = this.#neighbour(key);
    const [, , start, ms] = this.#data.bars[at] ?? ['', 0, 0, 0, ''];
    if (start < this.#from || start + ms > this.#to) this.#pan(start + ms / 2 - (this.#from + this.#to) / 2);
    this.#choose(at);
    this.#tellBar(at);
    const box = this.#rects[at]?.getBoundingClientRect();
    if (box !== undefined) this.#place(Math.max(box.left, 0), box.top + box.height / 2);
  }

  /** The next bar of the same lane, or the one of a neighbouring lane that is nearest in time. */
  #neighbour(key: string): number {
    const { bars } = this.#data;
    const chosen = bars[this.#chosen];
    if (chosen === undefined)
      return Math.max(
        0,
        bars.findIndex(([, , start]) => start >= this.#from),
      );
    const [, lane, from] = chosen;
    const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
    const isSideways = key === 'ArrowRight' || key === 'ArrowLeft';
    const isCandidate = ([, other]: PageData['bars'][number], at: number): boolean =>
      isSideways ? other === lane && (at - this.#chosen) * sign > 0 : other === lane + sign;
    let nearest = this.#chosen;
    let distance = Number.POSITIVE_INFINITY;
    for (const [at, bar] of bars.entries()) {
      if (!isCandidate(bar, at) || Math.abs(bar[2] - from) >= distance) continue;
      nearest = at;
      distance = Math.abs(bar[2] - from);
    }
    return nearest;
  }

  #choose(at: number): void {
    this.#rects[this.#chosen]?.classList.remove('chosen');
    this.#chosen = at;
    this.#rects[at]?.classList.add('chosen');
  }

  #hide(): void {
    this.#on.tip.hidden = true;
    this.#on.cursor.hidden = true;
    this.#choose(-1);
  }

  #tellBar(at: number): void {
    const { bars, tasks, lanes, cuts, beginMs } = this.#data;
    const { realMs: real, showMs: show } = this.#axis;
    const [attempt, lane, start, ms, end] = bars[at] ?? ['', 0, 0, 0, ''];
    const [task = '', number] = attempt.split('#');
    const { name, command = '' } = tasks[task] ?? {};
    const head = name === undefined ? task : `${task} ${name}`;
    const begun = real(start, cuts);
    const clock = new Date(beginMs + begun).toISOString().replace('T', ' ').replace('Z', ' UTC');
    this.#on.tip.replaceChildren(
      this.#line(number === '1' ? head : `${head}, attempt ${number}`, 'head'),
      this.#line(`${end} after ${show(ms)}, on ${lanes[lane]?.label}`, 'fact'),
      this.#line(`from ${clock} (+${show(begun)})`, 'fact'),
      this.#line(command.length > 600 ? `${command.slice(0, 600)}…` : command, 'command'),
    );
  }

  #tellTime(ms: number, lane: PageElement | null): void {
    const { series, lanes, bucketMs, cuts } = this.#data;
    const { realMs: real, showMs: show } = this.#axis;
    const bucket = Math.floor(ms / bucketMs);
    const amount = (values: readonly number[]): string => (values[bucket] ?? 0).toLocaleString('en');
    const facts = series.map(([name, values]) => this.#line(`${amount(values)} ${name}`, 'fact'));
    const own = lanes[Number(lane?.dataset.lane)];
    if (own?.busy !== undefined) facts.unshift(this.#line(`${amount(own.busy)} running on ${own.label}`, 'fact'));
    this.#on.tip.replaceChildren(this.#line(`+${show(real(ms, cuts))}`, 'head'), ...facts);
  }

  #line(text: string, name: string): PageElement {
    const element = this.#document.createElement('div');
    element.textContent = text;
    element.classList.add(name);
    return element;
  }

  /** Beside the pointer, on the side that has room. */
  #place(x: number, y: number): void {
    const { tip } = this.#on;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const { clientWidth, clientHeight } = this.#document.documentElement;
    const left = x + 14 + box.width > clientWidth ? x - box.width - 14 : x + 14;
    const top = y + 18 + box.height > clientHeight ? y - box.height - 12 : y + 18;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }
}
