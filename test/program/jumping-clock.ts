/** Preloaded into every Node process of a run: sets its wall clock forward and back while it goes on. */
import { appendFileSync } from 'node:fs';

const wall = Date.now;
const hourMs = 3_600_000;
let offsetMs = 0;
Date.now = () => wall() + offsetMs;

for (const [atMs, byMs] of [
  [400, hourMs],
  [900, -hourMs],
  [1_400, 24 * 365 * hourMs],
  [1_900, 0],
] as const) {
  const jump = (): void => {
    offsetMs = byMs;
    appendFileSync(process.env.JUMPS ?? '/dev/null', `${process.pid} ${byMs}\n`);
  };
  setTimeout(jump, atMs).unref();
}
