/**
 * Finds the placeholders of a command template and the quotes around each. It knows as much of the shell's syntax as
 * that takes: quotes, escapes, comments, and `$(…)`, within which quoting begins anew.
 */
import { DroverError } from '../../model/errors.ts';
import type { Surroundings } from './quoting.ts';

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `key` is what is between the braces. */
  | { readonly kind: 'placeholder'; readonly key: string; readonly surroundings: Surroundings };

export interface Scan {
  readonly parts: readonly Part[];
  /** Whether more words may follow the command. */
  readonly isOpenEnded: boolean;
}

type Context = Surroundings | 'paren' | 'backtick' | 'comment';

/** What stands for a value: its first group is the key, or the second a text that is meant as it is. */
export type PlaceholderPattern = RegExp & { readonly sticky: true };

/** `{}`, `{#}` and `{1}`; `${1}` and `${#}` are the shell's own. */
export const numberedPlaceholder = /(?<!\$)\{(\d+|#|)\}/y as PlaceholderPattern;

/** `<<E`, `<<-'E'`, but not `<<<`; and its body, which needs a line of its own. */
const hereDocument = /(?<!<)<<-?\s*["'\\]?[A-Za-z_][^\n]*\n/;

export function scanTemplate(template: string, placeholder: PlaceholderPattern = numberedPlaceholder): Scan {
  const scanner = new Scanner(template, placeholder);
  scanner.run();
  const takesValues = scanner.parts().some(({ kind }) => kind === 'placeholder');
  if (takesValues && hereDocument.test(template)) throw inHereDocument();
  return { parts: scanner.parts(), isOpenEnded: scanner.context === 'bare' };
}

class Scanner {
  private readonly template: string;
  private readonly placeholder: PlaceholderPattern;
  private readonly found: Part[] = [];
  private readonly contexts: Context[] = ['bare'];
  private textStart = 0;
  private position = 0;

  constructor(template: string, placeholder: PlaceholderPattern) {
    this.template = template;
    this.placeholder = placeholder;
  }

  get context(): Context {
    return this.contexts.at(-1) ?? 'bare';
  }

  run(): void {
    while (this.position < this.template.length) {
      if (!this.takePlaceholder()) this.position += this.step();
    }
  }

  parts(): readonly Part[] {
    const rest = this.template.slice(this.textStart);
    return rest === '' ? this.found : [...this.found, { kind: 'text', text: rest }];
  }

  private takePlaceholder(): boolean {
    this.placeholder.lastIndex = this.position;
    const match = this.placeholder.exec(this.template);
    if (match === null || this.context === 'comment') return false;
    const [, key, literal] = match;
    if (key !== undefined && this.contexts.includes('backtick')) throw inBackticks(match[0]);
    if (this.textStart < this.position) {
      this.found.push({ kind: 'text', text: this.template.slice(this.textStart, this.position) });
    }
    if (key === undefined) this.found.push({ kind: 'text', text: literal ?? match[0] });
    else this.found.push({ kind: 'placeholder', key, surroundings: this.surroundings() });
    this.position = this.placeholder.lastIndex;
    this.textStart = this.position;
    return true;
  }

  private surroundings(): Surroundings {
    const { context } = this;
    return context === 'single' || context === 'double' || context === 'ansi' ? context : 'bare';
  }

  /** Enters or leaves contexts at this position and returns how many characters that took. */
  private step(): number {
    const here = this.template.charAt(this.position);
    switch (this.context) {
      case 'single':
        return this.leaveAt("'");
      case 'comment':
        return this.leaveAt('\n');
      case 'ansi':
        return here === '\\' ? 2 : this.leaveAt("'");
      case 'double':
        if (here === '\\') return 2;
        return here === '$' || here === '`' ? this.enterExpansion() : this.leaveAt('"');
      default:
        return here === '\\' ? 2 : this.stepUnquoted(here);
    }
  }

  private stepUnquoted(here: string): number {
    if (here === "'") return this.enter('single', 1);
    if (here === '"') return this.enter('double', 1);
    if (here === '(') return this.enter('paren', 1);
    if (here === ')') return this.context === 'paren' ? this.leaveAt(')') : 1;
    if (here === '#' && this.isAtWordStart()) return this.enter('comment', 1);
    if (here === '$' && this.template.charAt(this.position + 1) === "'") return this.enter('ansi', 2);
    return here === '$' || here === '`' ? this.enterExpansion() : 1;
  }

  private enterExpansion(): number {
    if (this.template.startsWith('$(', this.position)) return this.enter('paren', 2);
    if (this.template.charAt(this.position) !== '`') return 1;
    return this.context === 'backtick' ? this.leaveAt('`') : this.enter('backtick', 1);
  }

  private isAtWordStart(): boolean {
    return this.position === 0 || /[\s;&|()]/.test(this.template.charAt(this.position - 1));
  }

  private enter(context: Context, length: number): number {
    this.contexts.push(context);
    return length;
  }

  private leaveAt(end: string): number {
    if (this.template.charAt(this.position) === end) this.contexts.pop();
    return 1;
  }
}

/** Within one a value would be expanded, or keep the quotes that protect it elsewhere. */
function inHereDocument(): DroverError {
  return new DroverError('bad-input', 'a command with a here-document takes no {}', {
    hint: 'put it into a script file that reads the value as $1',
  });
}

/** Backquotes undo backslashes before the command within is read: no quoting is safe there. */
function inBackticks(text: string): DroverError {
  return new DroverError('bad-input', `the placeholder ${text} can't stand in backquotes`, {
    hint: 'write $(…) instead of `…`',
  });
}
