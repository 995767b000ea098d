/** A task that prints so many bytes within so many ms, each line with the time of its printing; says on stderr how long it took. */
import { writeSync } from 'node:fs';

const [bytes = 0, ms = 0] = process.argv.slice(2).map(Number);
const lineBytes = 256;
const tickMs = 20;
const begunAt = Date.now();
let printed = 0;

function print(upTo: number): void {
  let text = '';
  for (; printed + lineBytes <= upTo; printed += lineBytes)
    text += `${Date.now()} ${printed}`.padEnd(lineBytes - 1, '.').concat('\n');
  for (let left = Buffer.from(text); left.length > 0; ) left = left.subarray(writeSync(1, left));
}

const timer = setInterval(() => {
  const share = Math.min(1, (Date.now() - begunAt) / ms);
  print(share * bytes);
  if (share < 1) return;
  clearInterval(timer);
  process.stderr.write(`${Date.now() - begunAt}\n`);
}, tickMs);
