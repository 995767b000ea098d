import { describe, expect, it } from 'vitest';
import type { Report, ReportSlow } from '../../protocol/report.ts';
import { slowestSection } from './tables-section.ts';

const slow = (usage: Partial<ReportSlow>): Pick<Report, 'slowest' | 'tasks'> => ({
  slowest: [
    { attempt: 'w1.1#1', host: 'n1', startedAt: '2026-11-15T00:00:00.000Z', ms: 3_000, tone: 'succeeded', ...usage },
  ],
  tasks: {},
});
const drawn = (usage: Partial<ReportSlow>): string => slowestSection(slow(usage))?.text ?? '';
const lines = (usage: Partial<ReportSlow>): (string | undefined)[] =>
  [...drawn(usage).matchAll(/<path d="([^"]*)"/g)].map(([, line]) => line);

describe('what a slow attempt used over time', () => {
  it('is drawn from its start, each sample for the time since the one before it', () => {
    const memory = [
      { ms: 1_000, value: 50 },
      { ms: 3_000, value: 100 },
    ];
    expect(lines({ memory })).toEqual(['M0 20V10.5H30V1H90V20']);
  });

  it('is flat for one that used hardly any processor', () => {
    const cpus = [
      { ms: 1_000, value: 0 },
      { ms: 3_000, value: 0.01 },
    ];
    expect(lines({ cpus })).toEqual(['M0 20V20H30V19.8H90V20']);
    expect(drawn({ cpus })).toContain('<title>at most 0.01</title>');
  });

  it('has a column only if some attempt has it', () => {
    expect(drawn({})).not.toMatch(/over time|processors|GPUs/);
    expect(drawn({ gpus: [{ ms: 3_000, value: 1 }] })).toMatch(/GPUs/);
  });
});
