import { describe, expect, it } from 'vitest';
import { loadLibc } from '../platform/node/libc.ts';
import { BaseEnvironment, mattersToBash } from './environment.ts';

const isNeutral = (...entries: string[]) => new BaseEnvironment(entries, loadLibc()).neutralForBash;

describe('an environment', () => {
  it.each([
    'HOME=/root',
    'PS1=> ',
    'OLDPWD=/',
    'SHLVL=3',
    'LC_ALL=',
    'LC_ALL=C',
    'LC_ALL=POSIX',
    'LOCPATH=/nosuch',
    'a.b=1',
  ])('with %j is passed on by bash as it is, or in a known way', (entry) => {
    expect(isNeutral('PATH=/bin', entry)).toBe(true);
  });

  it.each([
    'BASH_ENV=x',
    'OPTERR=0',
    'PS4=> ',
    'OLDPWD=src',
    'OLDPWD=/nosuch',
    'SHLVL=x',
    'LC_ALL=xx_XX.UTF-8',
    'NAME-WITHOUT-VALUE',
    '=value without name',
  ])('with %j is changed by bash, or warned of', (entry) => {
    expect(isNeutral('PATH=/bin', entry)).toBe(false);
  });

  it('with a locale of which another variable says where it is, is left to bash', () => {
    expect(isNeutral('LC_ALL=C.UTF-8', 'LOCPATH=/nosuch')).toBe(false);
  });

  it('loses its prompts on the way through bash, and is the same object when it has none', () => {
    const without = new BaseEnvironment(['A=1']);
    expect(without.passedByBash).toBe(without);
    expect(new BaseEnvironment(['PS1=> ', 'A=1', 'PS2=> ']).passedByBash.entries).toEqual(['A=1']);
  });

  it.each(['PS1=> ', 'LC_ALL=C.UTF-8', 'BASH_ENV=x', 'PWD=/', 'NAME', '=x'])(
    'of a task with %j needs bash',
    (entry) => {
      expect(mattersToBash(entry)).toBe(true);
    },
  );

  it.each(['A=1', 'PATH=/bin', 'LC_ALL=C', 'LC_ALL=', 'DROVER_INDEX=3'])('of a task with %j needs no bash', (entry) => {
    expect(mattersToBash(entry)).toBe(false);
  });
});
