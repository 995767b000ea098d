import type { Corpus } from '../case.ts';
import { background } from './background.ts';
import { builtins } from './builtins.ts';
import { ends } from './ends.ts';
import { globs } from './globs.ts';
import { heredocs } from './heredocs.ts';
import { keywords } from './keywords.ts';
import { programs } from './programs.ts';
import { quoting } from './quoting.ts';
import { redirections } from './redirections.ts';
import { variables } from './variables.ts';
import { words } from './words.ts';

/** Those that mean something to every shell. */
export const corpora: readonly Corpus[] = [
  programs,
  quoting,
  words,
  heredocs,
  redirections,
  ends,
  keywords,
  builtins,
  variables,
  globs,
  background,
];
