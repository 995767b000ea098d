import { expect, it } from 'vitest';
import { taskId } from '../../model/ids.ts';
import { failureLimits } from '../../model/limits.ts';
import { FailureClasses } from './classes.ts';

it('tells how each task failed, and nothing of those that did not', () => {
  const classes = new FailureClasses();
  classes.clear(taskId(7));
  classes.note(taskId(1_000), { cause: 'exit:1', fingerprint: 2, host: 'n1' });
  expect(classes.of(taskId(1_000))).toEqual({ cause: 'exit:1', fingerprint: 2, host: 'n1' });
  expect(classes.of(taskId(999))).toBeUndefined();
  expect(classes.of(taskId(1_000_000))).toBeUndefined();
  classes.clear(taskId(1_000));
  expect(classes.of(taskId(1_000))).toBeUndefined();
});

it('beyond its limits leaves out hosts, then fingerprints, and never the cause', () => {
  const classes = new FailureClasses();
  for (let n = 1; n <= failureLimits.classesMax; n++)
    classes.note(taskId(1), { cause: 'lost', fingerprint: 0, host: `n${n}` });
  for (let n = 1; n <= 10_000; n++) classes.note(taskId(2), { cause: 'exit:2', fingerprint: n, host: 'n1' });
  expect(classes.of(taskId(1))).toEqual({ cause: 'lost', fingerprint: 0, host: `n${failureLimits.classesMax}` });
  expect(classes.of(taskId(2))).toEqual({ cause: 'exit:2', fingerprint: 0, host: undefined });
  classes.note(taskId(3), { cause: 'signal:9', fingerprint: 0, host: 'n1' });
  expect(classes.of(taskId(3))).toEqual({ cause: 'signal:9', fingerprint: 0, host: undefined });
});
