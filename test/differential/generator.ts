/**
 * Commands put together at random: some of shell syntax, some of plain words near the border of what is started without
 * a shell. All end, harm nothing and print the same each time, but for the order in which processes complain.
 */

import fc from 'fast-check';
import { madeUp } from '../set-up/made-up.ts';
import type { Entry } from './case.ts';
import { script } from './case.ts';

const files = {
  in: 'alpha beta\ngamma\n',
  'two words': 'blank\n',
  tool: script('#!/bin/sh\necho "tool $# $*"\nexit 3\n'),
  bare: script('echo "bare $# $*"\n'),
  plain: 'echo not executable\n',
};

export function generatedCommands(shell: 'bash' | 'sh'): { seed: number; entries: Entry[] } {
  const { numRuns, seed: first } = madeUp(150);
  const seed = shell === 'bash' ? first : first + 1;
  const commands = fc.sample(fc.oneof(syntax, plainLine), { seed, numRuns });
  return { seed, entries: commands.map((command) => ({ command, files, unordered: 'stderr' })) };
}

const one = (...texts: string[]) => fc.constantFrom(...texts);

const fragment = one(
  ...['a', 'b c', 'in', '*', '?n', '[a-z]*', 'x=y', '-n', '-e', '--', '~', '#', '!', '%', '{a,b}', '$', '$GREETING'],
  ...[
    '${GREETING}',
    '${#GREETING}',
    '${NOPE:-d}',
    '$?',
    '$#',
    '$0',
    '$(echo s)',
    '`echo t`',
    '$((1+2))',
    '\\\\',
    '\\n',
  ],
  ...['\t', '\n', ';', '&&', '|', '>', '<', '(', ')', 'ä', '😀', '\u00a0', '\r', '\x01', "'", '"', '\\', '', '/', '.'],
);

const word = fc.oneof(
  one('a', 'b', 'in', 'nosuch', '-n', '"two words"', '$GREETING', '"$GREETING"', '*', 'i?', '~', '.', '1', '{a,b}'),
  fragment.map((text) => `'${text.replaceAll("'", '')}'`),
  fragment.map((text) => `"${text.replaceAll('"', '')}"`),
  fragment.map((text) => `$'${text.replaceAll("'", '')}'`),
  fc.tuple(fragment, fragment).map(([left, right]) => `${left}"${right}"`),
  fc.tuple(fragment, fragment).map(([left, right]) => `${left}\\${right}`),
);

const program = one(
  ...['echo', 'echo', 'printf "[%s]"', 'printf %s', 'cat', 'ls -d', 'test', '[', 'wc -c', 'head -1', 'tr a b', 'sort'],
  ...['./tool', './bare', './plain', './nosuch', 'nosuch', 'tool', 'true', 'false', ':', 'expr', 'basename', 'eval'],
  ...['command', 'exec', 'set --', 'cd', 'export', 'unset', 'type', 'x=1', 'x=$GREETING', '! true', 'exit', 'sh -c'],
  ...[
    '/bin/echo',
    '/bin/true',
    'env -i',
    'nice',
    'seq',
    'read x',
    'shift',
    'return',
    'local x',
    'let',
    'trap',
    'umask',
  ],
);

const redirection = one(
  ...['', '', '', '', '> f', '>> f', '2> e', '2>&1', '< in', '< nosuch', '> /dev/null', '>&2', '&> f', '>| f', '> d/f'],
  ...['<<< word', '2>&-', '3>&1', '> "two words"', '> $NOPE', '0< in', '< in > f', '> f < in', '>&9'],
);

const simple = fc
  .tuple(program, fc.array(word, { maxLength: 4 }), redirection)
  .map(([first, words, last]) => [first, ...words, last].join(' ').trimEnd());

/** Only its last process reads and writes other files than `in`. */
const pipeline = fc
  .tuple(
    fc.array(one('echo a b', 'printf "x\\ny\\n"', 'cat in', 'seq 3', 'sort -r', 'cat', 'true'), { maxLength: 3 }),
    simple,
  )
  .map(([first, last]) => [...first, last].join(' | '));

const list = fc
  .array(fc.tuple(pipeline, one('; ', ' && ', ' || ', '\n', ' & wait; ')), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([command, operator], at) => command + (at < parts.length - 1 ? operator : '')).join(''));

const syntax = fc
  .tuple(list, list)
  .chain(([left, right]) =>
    one(
      ...[
        left,
        left,
        left,
        `( ${left} )`,
        `{ ${left}; }`,
        `if ${left}; then ${right}; fi`,
        `! ${left}`,
        `${left} # ${right}`,
      ],
      ...[
        `for i in 1 2; do ${left}; done`,
        `f() { ${left}; }; f a b`,
        `x=$(${left}); echo "$x"`,
        `set -e; ${left}; ${right}`,
      ],
      ...[
        `cat <<EOF\n${left}\nEOF\n${right}`,
        `case a in a) ${left};; esac`,
        `trap '${right}' EXIT; ${left}`,
        `  ${left}  `,
      ],
      ...[`eval "${left}"`, `${left};`, `${left}\\`, `\n${left}\n`, `echo "$(${left})"`],
    ),
  );

const plainCharacter = one(...'abtrue-_@%+=:,./ \t019'.split(''));
const plainWord = fc.oneof(
  { weight: 3, arbitrary: fc.array(plainCharacter, { maxLength: 5 }).map((all) => all.join('')) },
  {
    weight: 3,
    arbitrary: one('a', '-n', '--', 'in', './in', 'x=1', '%1', '~', '-', '+x', '@', '..', '#x', 'a#', 'A=b'),
  },
);
/** Those that show their words come oftener. */
const showing = one('echo', '/bin/echo', './tool', './bare', 'basename', 'sh ./tool');
const anyPlain = one(
  ...[
    'echo',
    'true',
    'false',
    '/bin/echo',
    '/bin/true',
    './tool',
    './bare',
    './plain',
    './nosuch',
    'tool',
    'nosuch',
    'in',
  ],
  ...[
    'cat',
    'ls',
    'seq',
    'expr',
    'basename',
    'dirname',
    'test',
    'printf',
    'pwd',
    '-x',
    '+x',
    'a=b',
    '%',
    '@',
    'x:y',
    './in/',
  ],
  ...[
    'sh ./tool',
    'bash ./bare',
    'nice ./tool',
    'env ./bare',
    'wc -c in',
    'sort in',
    'cut -c1 in',
    'time-x',
    'then',
    'do',
  ],
);
const plainProgram = fc.oneof(showing, anyPlain);
const plainLine = fc
  .tuple(one('', '', ' ', '\t'), plainProgram, fc.array(plainWord, { maxLength: 4 }), one('', '', ' ', '\n', '\r', ';'))
  .map(([before, first, words, after]) => before + [first, ...words].join(' ') + after);
