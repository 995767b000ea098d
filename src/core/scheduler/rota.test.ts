import { describe, expect, it } from 'vitest';
import { Rota } from './rota.ts';

function turns(rota: Rota<string>, count: number): string {
  let text = '';
  for (let turn = 0; turn < count; turn++) {
    text += rota.first;
    rota.turn();
  }
  return text;
}

describe('a rota', () => {
  it('lets its members take turns; one that comes again keeps its place', () => {
    const rota = new Rota<string>();
    for (const member of ['a', 'b', 'a', 'c']) rota.add(member);
    expect([rota.size, turns(rota, 7)]).toEqual([3, 'abcabca']);
    rota.add('d');
    expect(turns(rota, 5)).toBe('bcadb');
  });

  it('leaves out who is dropped, until it comes again', () => {
    const rota = new Rota<string>();
    for (const member of ['a', 'b', 'c']) rota.add(member);
    rota.drop();
    expect([rota.has('a'), rota.size, turns(rota, 4)]).toEqual([false, 2, 'bcbc']);
    rota.add('a');
    expect(turns(rota, 4)).toBe('bcab');
    for (let member = rota.first; member !== undefined; member = rota.first) rota.drop();
    expect(rota.size).toBe(0);
    rota.turn();
    rota.add('e');
    expect(turns(rota, 2)).toBe('ee');
  });
});
