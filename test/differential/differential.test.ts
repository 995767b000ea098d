import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bench } from './bench.ts';
import { entriesOf } from './case.ts';
import { environments, searches } from './corpus/direct.ts';
import { corpora } from './corpus/index.ts';
import { generatedCommands } from './generator.ts';

describe('a command has the same outcome in a task and in a shell:', () => {
  let bench: Bench;
  let bashCalledSh: string;
  beforeAll(() => {
    bench = new Bench();
    bashCalledSh = join(bench.root, 'bin', 'sh');
    mkdirSync(dirname(bashCalledSh));
    symlinkSync('/bin/bash', bashCalledSh);
  });
  afterAll(async () => {
    expect(await bench.close()).toEqual([]);
  });

  describe.each(['bash', 'sh'] as const)('%s', (shell) => {
    it.each(corpora)('$subject', async (corpus) => {
      expect(await bench.compare(`/bin/${shell}`, entriesOf(corpus, shell))).toEqual([]);
    });

    it('commands put together at random', async () => {
      const { seed, entries } = generatedCommands(shell);
      expect(await bench.compare(`/bin/${shell}`, entries), `seed ${seed}`).toEqual([]);
    });
  });

  // dash starts nothing directly, so that its side of these is of no interest.
  it.each([searches, environments])('bash: $subject', async (corpus) => {
    expect(await bench.compare('/bin/bash', entriesOf(corpus, 'bash'))).toEqual([]);
  });

  it('bash by the name of sh: the environment of the shell', async () => {
    expect(await bench.compare(bashCalledSh, entriesOf(environments, 'sh'))).toEqual([]);
  });
});
