/** Reports of runs that nobody has here: a million attempts, thousands of workers. They are as large as others. */
import { Value } from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { reportLimits } from '../../model/limits.ts';
import { Report } from '../../protocol/report.ts';
import type { AttemptView } from '../../protocol/views/attempts.ts';
import type { TaskView } from '../../protocol/views/tasks.ts';
import type { WorkerView } from '../../protocol/views/workers.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import { gatherReport, type ReportSource } from './gather.ts';
import { reportPage } from './page.ts';

const beginMs = Date.parse('2026-01-01T00:00:00Z');
const iso = (ms: number): string => new Date(beginMs + ms).toISOString();
const digest = (): string => '00'.repeat(32);

interface Run {
  readonly attempts: number;
  readonly workers: number;
  readonly slots: number;
  readonly attemptOf: (at: number) => AttemptView;
}

/** A controller that remembers nothing: what it is asked for it makes up, the same each time. */
function sourceOf({ attempts, workers, slots, attemptOf }: Run): ReportSource {
  const counts = { total: attempts, pending: 0, running: 0, done: attempts, failed: 0, cancelled: 0 };
  const workflow: WorkflowView = {
    ...{ id: 'w1', state: 'done', run: 1, counts, createdAt: iso(0), startedAt: iso(0), endedAt: iso(1) },
    ...{ durationMs: 1, attemptsEnded: attempts, version: 1 },
  };
  return {
    workflow: async () => workflow,
    statisticsOf: async () => ({ isPartial: false, states: { done: attempts }, outcomes: {}, recommended: {} }),
    failures: async () => ({ groups: [] }),
    server: async () => ({ version: '1', apiVersion: 1, pid: 1, uptimeMs: 1, epoch: 1, workers: 0, slots: 0 }),
    surroundings: async () => ({
      ...{ cwd: '/', shell: '/bin/sh', maxAttempts: 1, terminationMs: 1, failFast: false, variables: 3 },
    }),
    async *eachAttempt() {
      for (let at = 0; at < attempts; at++) yield attemptOf(at);
    },
    async *eachWorker() {
      for (let at = 1; at <= workers; at++) {
        const of = { id: `k${at}`, kind: 'native', shard: 's', host: `n${at}`, state: 'healthy', slots } as const;
        yield { ...of, queue: 'default', attempts: 0, joinedAt: iso(0) } satisfies WorkerView;
      }
    },
    async *eachEdge() {},
    tasks: async ({ where = '' } = {}) => ({
      tasks: where
        .replace('id=', '')
        .split(',')
        .map(
          (id) =>
            ({
              id,
              index: 1,
              command: 'x'.repeat(100_000),
              state: 'done',
              priority: 0,
              attempts: 1,
            }) satisfies TaskView,
        ),
    }),
    executionInfo: async () => ({ attempt: 1, worker: 'k1', memory_usage: [], cpu_utilization: [], gpu_usage: [] }),
  };
}

const attempt = (at: number, worker: number, startMs: number, ms: number): AttemptView => ({
  ...{
    id: `w1.${at + 1}#1`,
    number: 1,
    state: 'ended',
    worker: `k${worker}`,
    host: `n${worker}`,
    recordedAt: iso(startMs),
  },
  ...{ startedAt: iso(startMs), endedAt: iso(startMs + ms), wallMs: ms, cpuMs: ms, outcome: { kind: 'succeeded' } },
});

const made = async (run: Run): Promise<{ report: Report; page: string }> => {
  const report = await gatherReport(sourceOf(run), 'w1', { now: beginMs + 1e9, version: '1.2.3' });
  expect([...Value.Errors(Report, report)]).toEqual([]);
  return { report, page: reportPage(report, digest) };
};

const megabyte = 1_000_000;

describe('a report', () => {
  it('of a million attempts is small, has all of them, and takes seconds', async () => {
    const attempts = 1_000_000;
    const begun = performance.now();
    const { report, page } = await made({
      ...{ attempts, workers: 50, slots: 16 },
      attemptOf: (at) => attempt(at, 1 + (at % 50), Math.floor(at / 800) * 50, 50),
    });
    const tookMs = performance.now() - begun;
    expect(report.attempts.total).toBe(attempts);
    expect(report.timeline?.bars).toBeUndefined();
    expect(report.timeline?.lanes).toHaveLength(50);
    const { series, spanMs = 0 } = report.timeline ?? {};
    expect(spanMs).toBe(62_500);
    expect(series?.succeeded.reduce((sum, count) => sum + count)).toBe(attempts);
    const ranMs = (series?.running ?? []).reduce((sum, mean, at) => {
      return sum + mean * Math.min(series?.bucketMs ?? 0, spanMs - at * (series?.bucketMs ?? 0));
    }, 0);
    expect(ranMs / (attempts * 50)).toBeCloseTo(1, 3);
    expect(report.attempts.share).toBe(1);
    expect(series?.waiting[0]).toBeGreaterThan(0.99 * attempts);
    expect(page.length).toBeLessThan(megabyte);
    expect(tookMs).toBeLessThan(40_000);
  });

  it('of as many attempts as are drawn has each of them, and the beginnings of their commands', async () => {
    const attempts = reportLimits.barsMax;
    const { report, page } = await made({
      ...{ attempts, workers: 4, slots: 8 },
      attemptOf: (at) => attempt(at, 1 + (at % 4), Math.floor(at / 32) * 10, 10),
    });
    expect(report.timeline?.bars).toHaveLength(attempts);
    expect(report.timeline?.lanes).toHaveLength(32);
    expect(page.match(/<rect class="bar /g)).toHaveLength(attempts);
    expect(page.length).toBeLessThan(3 * megabyte);
  });

  it('of thousands of workers has lanes for some, and one for the others', async () => {
    const [attempts, workers] = [20_000, 5_000];
    const { report, page } = await made({
      ...{ attempts, workers, slots: 1 },
      attemptOf: (at) => attempt(at, 1 + (at % workers), Math.floor(at / workers) * 1_000, 900),
    });
    const { lanes = [] } = report.timeline ?? {};
    expect(lanes).toHaveLength(reportLimits.lanesMax);
    expect(lanes.at(-1)?.worker).toBeUndefined();
    expect(Math.max(...(lanes.at(-1)?.busy?.succeeded ?? []))).toBe(workers - reportLimits.lanesMax + 1);
    expect([report.workers.length, report.workersLeft]).toEqual([
      reportLimits.workersMax,
      workers - reportLimits.workersMax,
    ]);
    expect(page.length).toBeLessThan(2 * megabyte);
  });

  it('of a few attempts on many slots shows workers, since there would be too many rows', async () => {
    const { report } = await made({
      ...{ attempts: 500, workers: 2, slots: 256 },
      attemptOf: (at) => attempt(at, 1 + (at % 2), 0, 1_000),
    });
    expect(report.timeline?.bars).toBeUndefined();
    expect(report.timeline?.lanes.map(({ worker, slots }) => [worker, slots])).toEqual([
      ['k1', 256],
      ['k2', 256],
    ]);
  });

  it('of what still runs has the CPU time of what has ended, and says of how much running that is', async () => {
    const running = ({ wallMs: _w, cpuMs: _c, endedAt: _e, outcome: _o, ...rest }: AttemptView): AttemptView => rest;
    const { report, page } = await made({
      ...{ attempts: 2, workers: 1, slots: 2 },
      attemptOf: (at) => (at === 0 ? attempt(0, 1, 0, 3_000) : running(attempt(1, 1, 0, 0))),
    });
    expect(report.attempts).toMatchObject({ busyMs: 3_000 + 1e9, cpuMs: 3_000, cpuKnownMs: 3_000 });
    expect(page).toContain('CPU time, known of 3.0 s of running');
    const none = await made({
      ...{ attempts: 1, workers: 1, slots: 2 },
      attemptOf: () => running(attempt(0, 1, 0, 0)),
    });
    expect(none.page).not.toContain('CPU time,');
  });

  it.each([
    ['no time at all', 0, 0],
    ['ten years', 10 * 365 * 86_400_000, 86_400_000],
  ])('of attempts that take %s is drawn', async (_, spanMs, ms) => {
    const { report, page } = await made({
      ...{ attempts: 10, workers: 1, slots: 2 },
      attemptOf: (at) => attempt(at, 1, Math.floor((spanMs / 10) * at), ms),
    });
    expect(report.timeline?.bars).toHaveLength(10);
    const [drawn] = page.split('<script>');
    expect(drawn).not.toMatch(/NaN|Infinity|undefined/);
  });
});
