/**
 * The last line of a test run: `N passed, N failed`, alone, for whoever reads only that.
 * A file that could not be loaded and an error outside of any test count as failed.
 */
import { writeSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export default class Totals implements Reporter {
  #passed = 0;
  #failed = 0;
  #ended = false;

  onInit(): void {
    process.once('exit', (code) => this.#print(code));
  }

  onTestRunStart(): void {
    this.#passed = 0;
    this.#failed = 0;
    this.#ended = false;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    this.#ended = true;
    this.#failed += unhandledErrors.length;
    for (const module of modules) {
      const failedBefore = this.#failed;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') this.#passed += 1;
        if (state === 'failed') this.#failed += 1;
      }
      if (module.state() === 'failed' && this.#failed === failedBefore) this.#failed += 1;
    }
  }

  /** At exit, since the other reporters must have had their say. */
  #print(code: number): void {
    if (code !== 0 && this.#failed === 0) this.#failed = 1;
    if (this.#ended || code !== 0) writeSync(1, `${this.#passed} passed, ${this.#failed} failed\n`);
  }
}
