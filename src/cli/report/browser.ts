/**
 * What runs in the page: zoom, pan, hover and keys on the timeline. All else of the page is there without it.
 *
 * The text of these functions is put into the page as it is (`browserScript`), so that there is no second bundle: they refer to nothing but
 * each other and what they are given. What they use of the DOM is declared here: the rest of Drover has none.
 */

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

interface PageEvent {
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

interface PageElement {
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

/** Rows of a place on the axis, and how many ms are missing there. */
export type Cuts = readonly (readonly [atMs: number, ms: number])[];

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

/** Whole plots are so many units wide, whatever the time they show. */
export const plotUnits = 100_000;

/** At most two units. */
export function showMs(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Math.round(ms / 10) / 100} s`;
  const seconds = Math.round(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => value + unit)
    .join(' ');
}

/** From a place on the axis to the time that it stands for. */
export function realMs(ms: number, cuts: Cuts): number {
  return cuts.reduce((sum, [at, missing]) => (ms >= at ? sum + missing : sum), ms);
}

/** Round times between two places on the axis, at most so many; `ms` is where they are. */
export function ticksOf(fromMs: number, toMs: number, most: number, cuts: Cuts): { ms: number; label: string }[] {
  const steps = [
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((n) => n),
    ...[1, 2, 5, 10, 15, 30].map((n) => n * 1_000),
    ...[1, 2, 5, 10, 15, 30].map((n) => n * 60_000),
    ...[1, 2, 3, 6, 12].map((n) => n * 3_600_000),
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map((n) => n * 86_400_000),
  ];
  const least = (toMs - fromMs) / most;
  const step = steps.find((ms) => ms >= least) ?? steps.at(-1) ?? 1;
  const ticks: { ms: number; label: string }[] = [];
  const edges = [fromMs, ...cuts.map(([at]) => at).filter((at) => at > fromMs && at < toMs), toMs];
  for (let next = 1; next < edges.length; next++) {
    const [begin, end] = [edges[next - 1] ?? 0, edges[next] ?? 0];
    const missing = realMs(begin, cuts) - begin;
    for (let at = Math.ceil((begin + missing) / step); at * step - missing <= end; at++) {
      const ms = at * step - missing;
      const last = ticks.at(-1);
      // Where something is cut out, two round times may be close.
      if (last !== undefined && ms - last.ms < step * 0.7) continue;
      ticks.push({ ms, label: at === 0 ? '0' : showMs(at * step) });
    }
  }
  return ticks;
}

/** Makes the timeline answer. */
export function enliven(document: PageDocument): void {
  const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as PageData;
  const chart = document.getElementById('timeline');
  const tip = document.getElementById('tip');
  if (chart === null || tip === null || !(data.spanMs > 0)) return;
  const cursor = chart.querySelector('.cursor');
  const grid = chart.querySelector('.grid');
  const plots = [...chart.querySelectorAll('svg[data-height]')];
  const rects = [...chart.querySelectorAll('.bar')];
  const indexOf = new Map(rects.map((rect, at) => [rect, at]));
  const least = Math.min(data.spanMs, 1);
  let from = 0;
  let to = data.spanMs;
  let chosen = -1;
  let dragX: number | undefined;

  const part = (ms: number): number => (ms - from) / (to - from);
  /** A bar that is narrow has no line around it: nothing of it would be left. */
  const wide = (ms: number, width: number): boolean => (ms / (to - from)) * width > 4;

  function draw(): void {
    const [x, width] = [(from / data.spanMs) * 100_000, ((to - from) / data.spanMs) * 100_000];
    for (const plot of plots) plot.setAttribute('viewBox', `${x} 0 ${width} ${plot.dataset.height}`);
    const pixels = grid?.getBoundingClientRect().width ?? 0;
    for (const [at, rect] of rects.entries()) rect.classList.toggle('wide', wide(data.bars[at]?.[3] ?? 0, pixels));
    const ticks = ticksOf(from, to, Math.max(2, Math.floor(pixels / 90)), data.cuts).map(({ ms, label }) => {
      const tick = document.createElement('span');
      tick.style.left = `${100 * part(ms)}%`;
      tick.textContent = part(ms) > 0.95 ? '' : label;
      return tick;
    });
    const cuts = data.cuts.map(([at, ms]) => {
      const cut = document.createElement('i');
      cut.style.left = `${100 * part(at)}%`;
      cut.textContent = `${showMs(ms)} idle`;
      return cut;
    });
    grid?.replaceChildren(...ticks, ...cuts);
    chart?.classList.toggle('zoomed', to - from < data.spanMs);
  }

  function zoom(factor: number, atMs: number): void {
    const length = Math.min(data.spanMs, Math.max(least, (to - from) * factor));
    const share = part(atMs);
    from = Math.max(0, Math.min(data.spanMs - length, atMs - share * length));
    to = from + length;
    draw();
  }

  function pan(ms: number): void {
    const length = to - from;
    from = Math.max(0, Math.min(data.spanMs - length, from + ms));
    to = from + length;
    draw();
  }

  const line = (text: string, name: string): PageElement => {
    const element = document.createElement('div');
    element.textContent = text;
    element.classList.add(name);
    return element;
  };

  function place(x: number, y: number): void {
    if (tip === null) return;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const left = x + 14 + box.width > clientWidth ? x - box.width - 14 : x + 14;
    const top = y + 18 + box.height > clientHeight ? y - box.height - 12 : y + 18;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }

  const clock = (ms: number): string =>
    new Date(data.beginMs + realMs(ms, data.cuts)).toISOString().replace('T', ' ').replace('Z', ' UTC');

  function tellBar(at: number): void {
    const [attempt, lane, start, ms, end] = data.bars[at] ?? ['', 0, 0, 0, ''];
    const [task = '', number] = attempt.split('#');
    const { name, command = '' } = data.tasks[task] ?? {};
    const head = name === undefined ? task : `${task} ${name}`;
    tip?.replaceChildren(
      line(number === '1' ? head : `${head}, attempt ${number}`, 'head'),
      line(`${end} after ${showMs(ms)}, on ${data.lanes[lane]?.label}`, 'fact'),
      line(`from ${clock(start)} (+${showMs(realMs(start, data.cuts))})`, 'fact'),
      line(command.length > 600 ? `${command.slice(0, 600)}…` : command, 'command'),
    );
  }

  function choose(at: number): void {
    rects[chosen]?.classList.remove('chosen');
    chosen = at;
    rects[at]?.classList.add('chosen');
  }

  function tellTime(ms: number, lane: PageElement | null): void {
    const bucket = Math.floor(ms / data.bucketMs);
    const facts = data.series.map(([name, values]) => line(`${values[bucket] ?? 0} ${name}`, 'fact'));
    const own = data.lanes[Number(lane?.dataset.lane)];
    if (own?.busy !== undefined) facts.unshift(line(`${own.busy[bucket] ?? 0} running on ${own.label}`, 'fact'));
    tip?.replaceChildren(line(`+${showMs(realMs(ms, data.cuts))}`, 'head'), ...facts);
  }

  const atPointer = (event: PageEvent): number => {
    const box = grid?.getBoundingClientRect();
    return box === undefined ? 0 : from + ((event.clientX - box.left) / box.width) * (to - from);
  };

  function hide(): void {
    if (tip !== null) tip.hidden = true;
    if (cursor !== null) cursor.hidden = true;
    choose(-1);
  }

  function onMove(event: PageEvent): void {
    const box = grid?.getBoundingClientRect();
    if (box === undefined || event.clientX < box.left || event.clientX > box.left + box.width) return hide();
    if (dragX !== undefined && event.buttons === 1) {
      pan(((dragX - event.clientX) / box.width) * (to - from));
      dragX = event.clientX;
    }
    const ms = Math.min(data.spanMs, Math.max(0, atPointer(event)));
    if (cursor !== null) {
      cursor.hidden = false;
      cursor.style.left = `${100 * part(ms)}%`;
    }
    const at = indexOf.get(event.target) ?? -1;
    choose(at);
    if (at < 0) tellTime(ms, event.target.closest('[data-lane]'));
    else tellBar(at);
    place(event.clientX, event.clientY);
  }

  /** The next bar of the same lane, or the one of a neighbouring lane that is nearest in time. */
  function neighbour(key: string): number {
    const [, lane, start] = data.bars[chosen] ?? ['', 0, -1];
    const found = data.bars.map((bar, at) => ({ at, bar }));
    const sideways = key === 'ArrowRight' || key === 'ArrowLeft';
    if (chosen < 0) return found.find(({ bar }) => bar[2] >= from)?.at ?? 0;
    const sign = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : -1;
    const others = found.filter(({ at, bar }) =>
      sideways
        ? bar[1] === lane && at !== chosen && (bar[2] - start) * sign >= 0 && (at - chosen) * sign > 0
        : bar[1] === lane + sign,
    );
    others.sort((a, b) => Math.abs(a.bar[2] - start) - Math.abs(b.bar[2] - start));
    return others[0]?.at ?? chosen;
  }

  function onArrow(key: string): void {
    const at = neighbour(key);
    const [, , start, ms] = data.bars[at] ?? ['', 0, 0, 0, ''];
    if (start < from || start + ms > to) pan(start + ms / 2 - (from + to) / 2);
    choose(at);
    tellBar(at);
    const box = rects[at]?.getBoundingClientRect();
    if (box !== undefined) place(Math.max(box.left, 0), box.top + box.height / 2);
  }

  chart.addEventListener('pointermove', onMove);
  chart.addEventListener('pointerleave', hide);
  chart.addEventListener('blur', hide);
  chart.addEventListener('pointerdown', (event) => {
    dragX = event.clientX;
  });
  chart.addEventListener('pointerup', () => {
    dragX = undefined;
  });
  chart.addEventListener('dblclick', (event) => zoom(0.4, atPointer(event)));
  chart.addEventListener(
    'wheel',
    (event) => {
      const isPan = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!isPan && !event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      if (isPan) pan((event.deltaX / 1_000) * (to - from));
      else zoom(event.deltaY > 0 ? 1.25 : 0.8, atPointer(event));
    },
    { passive: false },
  );
  const middle = (): number => {
    const [, , start, ms] = data.bars[chosen] ?? ['', 0, (from + to) / 2, 0];
    return start + ms / 2;
  };
  const actions: Readonly<Record<string, () => void>> = {
    '+': () => zoom(0.5, middle()),
    '=': () => zoom(0.5, middle()),
    '-': () => zoom(2, middle()),
    '0': () => zoom(Number.POSITIVE_INFINITY, 0),
    Escape: hide,
  };
  chart.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action =
      actions[event.key] ?? (event.key.startsWith('Arrow') && rects.length > 0 ? () => onArrow(event.key) : undefined);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  for (const button of document.getElementById('zoom')?.querySelectorAll('button') ?? []) {
    button.addEventListener('click', () => actions[button.dataset.key ?? '']?.());
  }
  const zoomer = document.getElementById('zoom');
  if (zoomer !== null) zoomer.hidden = false;
  draw();
}

/** For the page, from where its names are known. */
export const browserScript = (): string => `'use strict';
${showMs}
${realMs}
${ticksOf}
${enliven}
${enliven.name}(document);
`;
