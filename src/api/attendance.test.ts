import { describe, expect, it } from 'vitest';
import { Attendance } from './attendance.ts';

describe('a host that is about to end', () => {
  it('waits for who has announced itself, until it leaves', () => {
    const attendance = new Attendance();
    attendance.announce();
    attendance.heard(1_000);
    expect(attendance.withdraw(2_000)).toBe(false);
    attendance.leave();
    expect(attendance.withdraw(2_000)).toBe(true);
  });

  it('does not wait for ever for one that fell silent', () => {
    const attendance = new Attendance();
    attendance.announce();
    attendance.heard(1_000);
    expect(attendance.withdraw(60_000)).toBe(true);
  });

  it('lets nobody in once it has withdrawn', () => {
    const attendance = new Attendance();
    expect(attendance.withdraw(0)).toBe(true);
    expect(() => attendance.announce()).toThrow(expect.objectContaining({ code: 'controller-stopping' }));
  });
});
