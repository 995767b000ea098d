import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import type { FailureGroup } from '../../protocol/views/statistics.ts';
import type { TaskDetail } from '../../protocol/views/tasks.ts';
import type { WorkflowView } from '../../protocol/views/workflows.ts';
import { describeOutcome, renderTask, renderTasks, renderWorkflow } from './details.ts';
import { Pace } from './pace.ts';
import { type Progress, progressObject, renderLine, renderPlain } from './progress.ts';
import { renderSummary, type Summary, summaryObject } from './summary.ts';
import { renderTable } from './table.ts';
import { printable, truncate, widthOf } from './text.ts';
import { inColumns, renderUsage } from './usage.ts';

function viewOf(counts: Partial<WorkflowView['counts']>, rest: Partial<WorkflowView> = {}): WorkflowView {
  return {
    id: 'w3',
    state: 'running',
    run: 1,
    counts: { total: 0, pending: 0, running: 0, done: 0, failed: 0, cancelled: 0, ...counts },
    createdAt: '2026-11-15T23:58:48.000Z',
    durationMs: 12_000,
    attemptsEnded: 0,
    version: 1,
    ...rest,
  };
}

const progress: Progress = {
  view: viewOf({ total: 1_000, pending: 560, running: 8, done: 430, failed: 2 }),
  perSecond: 43,
  remainingMs: 83_000,
};
const plain = { columns: 200, isColoured: false, isUnicode: false };

describe('the live line', () => {
  it('shows a bar, counts, rate, time left and time taken', () => {
    expect(renderLine(progress, { ...plain, isUnicode: true })).toBe(
      `w3  ${'━'.repeat(17)}${'─'.repeat(23)}  432/1,000  2 failed  8 running  560 waiting  43/s  ETA 1m 23s  12 s`,
    );
  });

  it('drops what matters least where the terminal is narrow', () => {
    const at = (columns: number) => renderLine(progress, { ...plain, columns });
    expect(at(81)).toBe('w3  ########------------  432/1,000  2 failed  8 running  43/s  ETA 1m 23s  12 s');
    expect(at(41)).toBe('w3  ####------  432/1,000  2 failed');
    expect(at(26)).toBe('w3  ###-----  432/1,000');
    expect(at(20)).toBe('w3  432/1,000');
    expect(at(8)).toBe('w3  43…');
  });

  it('keeps the length of the bar while the rest changes', () => {
    const begun = { view: viewOf({ total: 1_000, running: 1 }), perSecond: undefined, remainingMs: undefined };
    expect(renderLine(begun, { ...plain, columns: 81 })).toBe(`w3  ${'-'.repeat(20)}  0/1,000  1 running  12 s`);
  });

  it('never reaches the last column', () => {
    const counts = fc.record({
      pending: fc.nat(),
      running: fc.nat(),
      done: fc.nat(),
      failed: fc.nat(),
      cancelled: fc.nat(),
    });
    fc.assert(
      fc.property(counts, fc.integer({ min: 1, max: 200 }), (given, columns) => {
        const total = Object.values(given).reduce((sum, count) => sum + count, 0);
        const line = renderLine({ ...progress, view: viewOf({ ...given, total }) }, { ...plain, columns });
        expect(widthOf(line)).toBeLessThan(columns);
      }),
      madeUp(),
    );
  });

  it('has colour only where wanted', () => {
    expect(renderLine(progress, { ...plain, isColoured: true })).toContain('\u001b[31m2 failed\u001b[0m');
    expect(renderLine(progress, plain)).not.toContain('\u001b');
  });

  it('says that it stops', () => {
    const view = viewOf({ total: 2, running: 2 }, { state: 'halting' });
    expect(renderLine({ ...progress, view }, plain)).toContain('stopping');
  });
});

it('the plain line has no control characters', () => {
  expect(renderPlain(progress)).toBe('w3: 432 of 1,000 tasks ended, 2 failed, 8 running, 43/s, about 1m 23s left');
  const begun = { view: viewOf({ total: 1, running: 1 }), perSecond: undefined, remainingMs: undefined };
  expect(renderPlain(begun)).toBe('w3: 0 of 1 tasks ended, 1 running');
});

it('progress is an object for programs', () => {
  expect(progressObject(progress)).toMatchObject({
    type: 'progress',
    id: 'w3',
    done: 430,
    perSecond: 43,
    remainingMs: 83_000,
  });
});

describe('the pace', () => {
  it('is not known before a task has ended', () => {
    const pace = new Pace(0, 5);
    pace.add(1_000, 5);
    expect(pace.perSecond()).toBeUndefined();
    expect(pace.remainingMs(10)).toBeUndefined();
  });

  it('follows a change of speed within the window', () => {
    const pace = new Pace(0, 0);
    for (let second = 1; second <= 100; second++) pace.add(second * 1_000, second * 100);
    expect(pace.perSecond()).toBeCloseTo(100, 1);
    for (let second = 1; second <= 20; second++) pace.add(100_000 + second * 1_000, 10_000 + second * 10);
    expect(pace.perSecond()).toBeCloseTo(10, 1);
    expect(pace.remainingMs(50)).toBeCloseTo(5_000, 0);
  });

  it('is known for tasks that take longer than the window', () => {
    const pace = new Pace(0, 0);
    for (let second = 1; second <= 200; second++) pace.add(second * 1_000, Math.floor(second / 60));
    expect(pace.perSecond()).toBeGreaterThan(1 / 100);
    expect(pace.perSecond()).toBeLessThan(1 / 50);
  });
});

describe('the summary', () => {
  const terminal = { columns: 80, isColoured: false };
  const group = (changed: Partial<FailureGroup>): FailureGroup => ({
    ...{ cause: 'exit:1', title: 'exit 1', count: 1, examples: [], hosts: [] },
    ...{ where: 'cause=exit:1', rerun: 'drover retry w3 --cause exit:1' },
    ...changed,
  });

  const summary = (view: WorkflowView, rest: Partial<Summary> = {}): Summary => ({
    view,
    failures: [],
    doneBefore: 0,
    ...rest,
  });

  it('is one line when all is done', () => {
    const view = viewOf({ total: 1_000, done: 1_000 }, { state: 'done', durationMs: 2_325 });
    expect(renderSummary(summary(view), terminal)).toBe('w3 done: 1,000 tasks in 2.3 s (430/s)\n');
    const single = viewOf({ total: 1, done: 1 }, { state: 'done', name: 'tiny\u001b', durationMs: 20 });
    expect(renderSummary(summary(single), terminal)).toBe('w3 (tiny\\x1b) done: 1 task in 20 ms\n');
    expect(renderSummary(summary(viewOf({}, { state: 'done' })), terminal)).toBe('w3 done: there was no task\n');
  });

  it('says what of it was done before', () => {
    const view = viewOf({ total: 4, done: 4 }, { state: 'done', durationMs: 100, run: 2 });
    expect(renderSummary(summary(view, { doneBefore: 3 }), terminal)).toBe(
      'w3 done: 4 tasks, 1 of them in this run, in 100 ms\n',
    );
  });

  it('groups failures and names the next lines to type', () => {
    const view = viewOf({ total: 1_000, done: 990, failed: 7, cancelled: 3 }, { state: 'failed' });
    const failures = [
      group({
        cause: 'exit:1',
        title: 'exit 1',
        count: 6,
        examples: [1, 2, 3, 4].map((n) => ({ id: `w3.${n}`, command: `test ${n} -ne ${n} ${'x'.repeat(100)}` })),
        lastLines: 'one\ntwo\u001b[31m\n',
      }),
      group({ cause: 'timeout', title: 'timeout', examples: [{ id: 'w3.9', command: 'sleep 9' }] }),
    ];
    expect(renderSummary(summary(view, { failures }), { ...terminal, columns: 40 })).toBe(
      [
        'w3 failed: 990 of 1,000 tasks done, 7 failed, 3 cancelled in 12 s',
        '  6 × exit 1',
        `    w3.1  test 1 -ne 1 ${'x'.repeat(16)}…`,
        `    w3.2  test 2 -ne 2 ${'x'.repeat(16)}…`,
        `    w3.3  test 3 -ne 3 ${'x'.repeat(16)}…`,
        '    and 3 more',
        '    │ one',
        '    │ two\\x1b[31m',
        '  1 × timeout',
        '    w3.9  sleep 9',
        '  look:    drover logs w3.1 --stderr',
        '  rerun:   drover resume w3',
        '',
      ].join('\n'),
    );
  });

  it('says how to go on after an interruption', () => {
    const view = viewOf({ total: 9, done: 2, pending: 7 }, { state: 'halted' });
    expect(renderSummary(summary(view), terminal)).toBe(
      'w3 halted: 2 of 9 tasks done, 7 left in 12 s\n  resume:  drover resume w3\n',
    );
  });

  it('sends nobody to the output of what has not run', () => {
    const view = viewOf({ total: 3, failed: 2 }, { state: 'failed' });
    const failures = [
      group({ cause: 'never-started', title: 'not startable: no such', examples: [{ id: 'w3.1', command: 'a' }] }),
      group({ cause: 'check', title: 'a task before the barrier failed', examples: [{ id: 'w3.2' }] }),
    ];
    const text = renderSummary(summary(view, { failures }), terminal);
    expect(text).toContain('    w3.2  --- barrier ---\n');
    expect(text).toContain('  look:    drover show w3 --state failed\n');
  });

  it('offers no resume for what was cancelled', () => {
    const view = viewOf({ total: 9, done: 2, cancelled: 7 }, { state: 'cancelled' });
    expect(renderSummary(summary(view), terminal)).toBe('w3 cancelled: 2 of 9 tasks done, 7 cancelled in 12 s\n');
  });

  it('is an object for programs', () => {
    const view = viewOf({ total: 4, done: 3, failed: 1 }, { state: 'failed', attemptsEnded: 4 });
    const failures = [group({ examples: [{ id: 'w3.3' }] })];
    expect(JSON.stringify(summaryObject(summary(view, { failures })))).toBe(
      '{"id":"w3","state":"failed","total":4,"done":3,"failed":1,"cancelled":0,"durationMs":12000,"run":1,"attempts":4,' +
        '"failures":[{"cause":"exit:1","title":"exit 1","count":1,"examples":[{"id":"w3.3"}],"hosts":[],' +
        '"where":"cause=exit:1","rerun":"drover retry w3 --cause exit:1"}]}',
    );
  });
});

describe('text', () => {
  it('does nothing to the terminal', () => {
    expect(printable('a\tb\nc\u001b[2J\u0007\u009b é')).toBe('a b\\nc\\x1b[2J\\x07\\x9b é');
  });

  it('is cut by columns, not in the middle of a character', () => {
    expect(truncate('abcdef', 6)).toBe('abcdef');
    expect(truncate('abcdef', 5)).toBe('abcd…');
    expect(truncate('日本語', 5)).toBe('日本…');
    expect(truncate('日本語', 4)).toBe('日…');
    expect(truncate('👩‍👩‍👧‍👦x', 2)).toBe('…');
    expect(truncate('abc', 0)).toBe('');
  });

  it('stands in columns', () => {
    const columns = [{ title: 'ID' }, { title: 'N', align: 'right' }, { title: 'TEXT' }] as const;
    expect(
      renderTable(columns, [
        ['w1', '10', 'a\nb'],
        ['日本', '5', ''],
      ]),
    ).toBe('ID     N  TEXT\nw1    10  a\\nb\n日本   5\n');
    expect(renderTable(columns, [['w1', '10', 'abcdef']], 12)).toBe('ID   N  TEXT\nw1  10  abc…\n');
  });
});

describe('details', () => {
  it('of a workflow', () => {
    const view = viewOf(
      { total: 3, done: 2, failed: 1 },
      { state: 'failed', name: 'n', run: 2, startedAt: '2026-11-15T23:58:48.000Z' },
    );
    expect(renderWorkflow(view)).toMatch(
      /^workflow {2}w3\nname {6}n\nstate {5}failed\ntasks {5}3, 2 done, 1 failed\nrun {7}2\ncreated {3}2026-.*\nstarted {3}2026-.*\ntook {6}12 s\n$/,
    );
  });

  const task: TaskDetail = {
    id: 'w3.7',
    index: 7,
    workflow: 'w3',
    cwd: '/tmp',
    continuations: [],
    command: 'echo a\necho b',
    state: 'failed',
    priority: 0,
    reason: 'attempts',
    attempts: 1,
    history: [
      {
        id: 'w3.7#1',
        number: 1,
        state: 'ended',
        worker: 'k1',
        host: 'here',
        recordedAt: '2026-11-15T23:58:48.000Z',
        startedAt: '2026-11-15T23:58:48.000Z',
        outcome: { kind: 'signalled', signal: 9 },
        signalledFor: 'timeout',
        wallMs: 1_500,
        cpuMs: 20,
        peakBytes: 12_897_485,
      },
    ],
  };

  it('of a task', () => {
    const text = renderTask({ ...task, attempts: 2 });
    expect(text).toContain('command   echo a\\necho b\n');
    expect(text).toContain('state     failed (attempts)\n');
    expect(text).toMatch(
      /^w3\.7#1 {3}signal 9 \(timeout\) {2}2026-\S+ \S+ {2}1\.5 s {2}20 ms {2}12\.3 MiB {2}k1 on here$/m,
    );
    expect(text).toContain('drover logs w3.7 --stderr\n');
  });

  it('of a task that is held say what releases it', () => {
    const { reason: _, ...held } = { ...task, state: 'queued', held: true } as const;
    expect(renderTask(held)).toContain("state     queued (held)\nheld      until 'drover retry w3.7'\n");
    expect(renderTasks([held])).toContain('queued (held)');
  });

  it('of a task that was tried once do not speak of attempts', () => {
    expect(renderTask(task)).toContain('state     failed\n');
    expect(renderTasks([task])).not.toContain('attempts');
  });

  it('of a task that has not started, and of a barrier', () => {
    expect(renderTask({ ...task, history: [], pendingDependencies: 2 })).not.toContain('drover logs');
    const history = task.history.map(({ startedAt: _, ...attempt }) => attempt);
    expect(renderTask({ ...task, history })).not.toContain('drover logs');
    expect(renderTasks([{ id: 'w3.2', index: 2, state: 'waiting', priority: 0, attempts: 0 }])).toContain(
      '--- barrier ---',
    );
  });

  it.each([
    [{ kind: 'succeeded', code: 0 }, 'exit 0'],
    [{ kind: 'exited', code: 7 }, 'exit 7'],
    [{ kind: 'resource', resource: 'runtime', by: 'timeout' }, 'timeout'],
    [{ kind: 'resource', resource: 'runtime' }, 'out of time'],
    [{ kind: 'resource', resource: 'memory' }, 'out of memory'],
    [{ kind: 'resource', resource: 'memory', by: 'machine' }, 'the machine was out of memory'],
    [{ kind: 'lost', what: 'worker' }, 'worker lost'],
    [{ kind: 'never-started', message: 'no such directory' }, 'not started: no such directory'],
    [{ kind: 'cancelled' }, 'cancelled'],
  ] as const)('of the end %j', (outcome, text) => expect(describeOutcome(outcome)).toBe(text));
});

describe('what an attempt used', () => {
  const second = (at: number, value: number) => ({ at: at * 1_000, value });
  const inMebibytes = ({ at, value }: ReturnType<typeof second>) => ({ at, value: value * 1024 ** 2 });
  const usage = {
    ...{ attempt: 2, startedAt: 0, gpu: [] },
    memory: [second(1, 10), second(5, 10), second(6, 400), second(8, 60)].map(inMebibytes),
    cpu: [second(2, 0), second(4, 2), second(8, 1)],
  };

  it('is a plot over its time, with the most and the mean', () => {
    expect(renderUsage(usage, true)).toBe(
      [
        'use of #2 in 8.0 s',
        'memory    ▁▁▁▁▁█▂▂  at most 400.0 MiB',
        'cpu         ██▄▄▄▄  at most 2 cores, 1 on average',
        '',
      ].join('\n'),
    );
  });

  it('has the peak that was between two looks', () => {
    expect(renderUsage(usage, true, 512 * 1024 ** 2)).toContain('at most 512.0 MiB\n');
    expect(renderUsage(usage, true, 1)).toContain('at most 400.0 MiB\n');
  });

  it('is nothing where nothing was measured', () => {
    expect(renderUsage({ attempt: 1, startedAt: 5, memory: [], cpu: [], gpu: [] }, true)).toBe('');
  });

  it('has all that was used in its columns, however they lie', () => {
    const points = [second(1, 3), second(1.5, 0), second(7, 2), second(20, 0.25)];
    const columns = inColumns(points, { from: 0, to: 20_000 }, 'mean');
    const used = columns.reduce((sum, value) => sum + (value * 20) / columns.length, 0);
    expect(used).toBeCloseTo(3 + 0 + 11 + 3.25, 6);
    expect(Math.max(...inColumns(points, { from: 0, to: 20_000 }, 'most'))).toBe(3);
  });
});
