/** `fields=id,state`: only these, for who reads many and needs little. */
import { DroverError } from '../../model/errors.ts';
import { nearest } from '../../protocol/filter/nearest.ts';

export interface Projection<View> {
  /** Whether any of these is wanted: what is not need not be fetched. */
  has(...names: readonly (keyof View & string)[]): boolean;
  of(view: View): View;
}

/** A view with fewer fields is still given as that view: who asked for fewer knows. */
export function projectionOf<View extends object>(
  text: string | undefined,
  known: readonly (keyof View & string)[],
): Projection<View> {
  if (text === undefined) return { has: () => true, of: (view) => view };
  const names = new Set(text.split(',').map((name) => checked(name.trim(), known)));
  return {
    has: (...wanted) => wanted.some((name) => names.has(name)),
    of: (view) => Object.fromEntries(Object.entries(view).filter(([name]) => names.has(name))) as View,
  };
}

function checked(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name;
  const near = nearest(name, known);
  throw new DroverError('bad-input', `fields: there is no '${name}'`, {
    hint: near.length > 0 ? `did you mean ${near.join(', ')}?` : `there are ${known.join(', ')}`,
    details: { field: name, fields: known },
  });
}
