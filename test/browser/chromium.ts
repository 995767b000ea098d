/**
 * A real browser, driven by its own protocol over a pipe: no port is opened, and nothing is between it and the test. Owns the process
 * and its profile, which are gone after `close`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

type Parameters = Readonly<Record<string, unknown>>;
type Answer = Record<string, unknown>;

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Answer;
  readonly result?: Answer;
  readonly error?: { readonly message: string };
}

export interface PageOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** Pixels for each of CSS. */
  readonly scale?: number;
  readonly hasScript?: boolean;
}

/** One page, and all that it asked for and complained of. */
export class BrowserPage {
  readonly requests: string[] = [];
  /** Of the console, of the policy, and what was thrown. */
  readonly complaints: string[] = [];
  readonly #send: (method: string, params?: Parameters) => Promise<Answer>;
  #onLoad: () => void = () => {};

  constructor(send: (method: string, params?: Parameters) => Promise<Answer>) {
    this.#send = send;
  }

  async prepare({
    width = 1280,
    height = 900,
    scheme = 'light',
    scale = 1,
    hasScript = true,
  }: PageOptions): Promise<void> {
    for (const part of ['Page', 'Network', 'Log', 'Runtime', 'Audits']) await this.#send(`${part}.enable`);
    await this.#send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: false });
    await this.#send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
    await this.#send('Emulation.setScriptExecutionDisabled', { value: !hasScript });
  }

  onEvent(method: string, params: Answer): void {
    if (method === 'Page.loadEventFired') this.#onLoad();
    if (method === 'Network.requestWillBeSent') this.requests.push((params.request as { url: string }).url);
    if (
      ['Log.entryAdded', 'Runtime.exceptionThrown', 'Runtime.consoleAPICalled', 'Audits.issueAdded'].includes(method)
    ) {
      this.complaints.push(`${method}: ${JSON.stringify(params)}`);
    }
  }

  async open(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      this.#onLoad = resolve;
    });
    await this.#send('Page.navigate', { url });
    await loaded;
  }

  /** The value of an expression, as JSON has it. */
  async evaluate<T>(expression: string): Promise<T> {
    const answer = await this.#send('Runtime.evaluate', { expression, returnByValue: true });
    if (answer.exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(answer)}`);
    return (answer.result as { value: T }).value;
  }

  /** To the middle of what the selector finds first. */
  async hover(selector: string): Promise<void> {
    const box = `(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView({ block: 'center' });
      const { x, y, width, height } = e.getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()`;
    const [x, y] = await this.evaluate<[number, number]>(box);
    await this.#send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
  }

  async press(key: string): Promise<void> {
    const text = key.length === 1 ? { text: key } : {};
    await this.#send('Input.dispatchKeyEvent', { type: 'keyDown', key, ...text });
    await this.#send('Input.dispatchKeyEvent', { type: 'keyUp', key });
  }

  /** A PNG of the whole page, or of its top. */
  async picture(height?: number): Promise<Buffer> {
    const [width, whole] = await this.evaluate<[number, number]>(
      '[document.documentElement.clientWidth, document.documentElement.scrollHeight]',
    );
    const clip = { x: 0, y: 0, width, height: height ?? whole, scale: 1 };
    const { data } = await this.#send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
    return Buffer.from(data as string, 'base64');
  }
}

export class Chromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #waiting = new Map<number, (message: Message) => void>();
  readonly #pages = new Map<string, BrowserPage>();
  readonly #ended: Promise<void>;
  #last = 0;
  #rest = '';

  constructor(program = 'chromium') {
    this.#profile = mkdtempSync(join(tmpdir(), 'drover-chromium-'));
    // Root has no sandbox; and what a browser asks of the world by itself would be taken for the page's.
    const flags = [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-pipe'],
      ...['--no-first-run', '--disable-background-networking', '--disable-component-update', '--hide-scrollbars'],
      ...['--disable-extensions', '--disable-sync', '--font-render-hinting=none', `--user-data-dir=${this.#profile}`],
    ];
    this.#child = spawn(program, [...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.#ended = new Promise((resolve) => this.#child.once('close', () => resolve()));
    const output = this.#child.stdio[4] as Readable;
    output.setEncoding('utf8').on('data', (text: string) => this.#onData(text));
    this.#child.once('close', () => {
      for (const answer of this.#waiting.values()) answer({ error: { message: 'the browser has ended' } });
    });
  }

  async page(options: PageOptions = {}): Promise<BrowserPage> {
    const { targetId } = await this.#send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.#send('Target.attachToTarget', { targetId, flatten: true });
    const page = new BrowserPage((method, params) => this.#send(method, params, sessionId as string));
    this.#pages.set(sessionId as string, page);
    await page.prepare(options);
    return page;
  }

  async close(): Promise<void> {
    this.#child.kill('SIGTERM');
    const hard = setTimeout(() => this.#child.kill('SIGKILL'), 3_000);
    await this.#ended;
    clearTimeout(hard);
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  async #send(method: string, params: Parameters = {}, sessionId?: string): Promise<Answer> {
    const id = ++this.#last;
    const answered = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    (this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result ?? {};
  }

  #onData(text: string): void {
    const parts = (this.#rest + text).split('\0');
    this.#rest = parts.pop() ?? '';
    for (const part of parts) this.#onMessage(JSON.parse(part) as Message);
  }

  #onMessage(message: Message): void {
    const { id, sessionId = '', method, params = {} } = message;
    if (method !== undefined) this.#pages.get(sessionId)?.onEvent(method, params);
    if (id === undefined) return;
    this.#waiting.get(id)?.(message);
    this.#waiting.delete(id);
  }
}
