import { expect, it } from 'vitest';
import { commandLineCharactersMax } from '../model/limits.ts';
import { commandLineOf } from './command-line.ts';

it('is told as it could be typed again', () => {
  const words = ['run', '-j', '4', 'gzip -k {}', '--name', "it's"];
  expect(commandLineOf(words, [':::', 'a b', 'c'])).toBe("drover run -j 4 'gzip -k {}' --name 'it'\\''s' ::: 'a b' c");
});

it('is told without what may be a secret', () => {
  const words = [
    'submit',
    '--env',
    'TOKEN=hush',
    '--env=KEY=hush',
    '--env',
    'HOME',
    '--notify-url',
    'https://x/hush',
    'f',
  ];
  const line = commandLineOf([...words, '--notify-command=mail hush', '--notify-url=hush'], []);
  expect(line).toBe(
    'drover submit --env TOKEN --env=KEY --env HOME --notify-url … f --notify-command=… --notify-url=…',
  );
});

it('is cut where it is long, between characters', () => {
  const line = commandLineOf(['run', '🐑'.repeat(5_000)], Array(100_000).fill('x'));
  expect(line.length).toBeLessThanOrEqual(commandLineCharactersMax);
  expect(line).toMatch(/^drover run '🐑+.?…$/u);
  expect(line.isWellFormed()).toBe(true);
});
