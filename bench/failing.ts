/** Ways in which tasks fail, each with lines that differ from task to task and mean the same. */

type How = { readonly exit: number } | { readonly signal: number };

export interface Failure {
  readonly how: How;
  readonly stderr: string;
}

type Way = readonly [How, (n: number) => string];

const hex = (n: number): string => (0x10_0000 + n * 7_919).toString(16);

export const ways: readonly Way[] = [
  [
    { exit: 1 },
    (n) =>
      `Traceback (most recent call last):\n  File "/srv/run-${n}/fit.py", line ${n % 90}\nValueError: bad seed ${n}\n`,
  ],
  [{ exit: 1 }, (n) => `cannot open /data/in/${n}.bin: No such file or directory\n`],
  [
    { exit: 1 },
    (n) => `2026-01-${10 + (n % 20)}T12:0${n % 10}:01Z ERROR connection to 10.0.0.${n % 250}:5432 refused\n`,
  ],
  [{ exit: 2 }, (n) => `usage: fit [--seed N]\nfit: unknown option --x${n}\n`],
  [{ exit: 2 }, (n) => `disk quota exceeded after ${n}.${n % 10} GB\n`],
  [{ exit: 7 }, (n) => `checksum 0x${hex(n)} does not match 0x${hex(n + 1)}\n`],
  [{ exit: 7 }, (n) => `lock ${hex(n).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')} is held\n`],
  [{ exit: 127 }, () => '/bin/sh: fit: not found\n'],
  [{ exit: 137 }, () => ''],
  [{ exit: 137 }, (n) => `worker ${n} ran out of its ${n % 64} GB\n`],
  [{ signal: 11 }, () => ''],
  [{ signal: 6 }, (n) => `fit: main.c:${n % 900}: assertion failed: n < ${n}\n`],
];

export function failureOf(n: number): Failure {
  const [how, stderrOf] = ways[n % ways.length] as Way;
  return { how, stderr: stderrOf(n) };
}
