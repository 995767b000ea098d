/** Drawings: what is folded, where it goes, and that no name can break a format. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeUp } from '../../../test/set-up/made-up.ts';
import { graphLimits } from '../../model/limits.ts';
import type { TaskState } from '../../model/states.ts';
import type { EdgeSpec } from '../../protocol/spec.ts';
import { toDot } from './dot.ts';
import type { Drawing, Node } from './drawing.ts';
import { type DrawnTask, draw } from './fold.ts';
import { layOut, type Sizes } from './layout.ts';
import { levelsOf } from './levels.ts';
import { toMermaid } from './mermaid.ts';
import { toSvg } from './svg.ts';

const task = (index: number, more: Partial<DrawnTask> = {}): DrawnTask => ({
  ...{ id: `w1.${index}`, index, command: 'work x', state: 'done' },
  ...more,
});

const edge = (parents: [number, number], children: [number, number], after: EdgeSpec['after'] = 'success') => ({
  ...{ parents, children, after },
});

const many = (count: number, from: number, template: string, stateOf: (at: number) => TaskState): DrawnTask[] =>
  Array.from({ length: count }, (_, at) => task(from + at, { template, state: stateOf(at) }));

/** 200 aligned, joined, merged twice. */
const large = [
  ...many(200, 1, 'align', (at) => (at < 180 ? 'done' : 'failed')),
  { id: 'w1.201', index: 201, state: 'done' as const },
  ...many(2, 202, 'merge', () => 'running'),
  task(204, { template: 'align', state: 'queued' }),
];
const largeEdges = [edge([1, 200], [201, 201], 'any'), edge([201, 201], [202, 203]), edge([202, 203], [204, 204])];

describe('a drawing', () => {
  it('has a node for each task of a small workflow', () => {
    const { nodes, edges } = draw([task(1, { name: 'a' }), task(2)], [edge([1, 1], [2, 2])], { title: 't' });
    expect(nodes.map(({ label }) => label)).toEqual(['w1.1 a', 'w1.2 work x']);
    expect(edges).toEqual([{ from: 1, to: 2, after: 'success' }]);
  });

  it('folds tasks of the same template and the same level of a large one', () => {
    const { nodes, edges } = draw(large, largeEdges, { title: 't' });
    expect(nodes.map(({ kind, label, level }) => [kind, label, level])).toEqual([
      ['group', 'align ×200: 180 done, 20 failed', 0],
      ['join', '', 1],
      ['group', 'merge ×2: 2 running', 2],
      ['task', 'w1.204 work x', 3],
    ]);
    expect(edges).toEqual([
      { from: 1, to: 2, after: 'any' },
      { from: 2, to: 3, after: 'success' },
      { from: 3, to: 4, after: 'success' },
    ]);
  });

  it('folds by template alone, or not at all, when told to', () => {
    const byTemplate = draw(large, largeEdges, { title: 't', byTemplate: true });
    expect(byTemplate.nodes.map(({ label }) => label)).toEqual([
      'align ×201: 180 done, 20 failed, 1 queued',
      '',
      'merge ×2: 2 running',
    ]);
    // The last leads back to where the first came from, and is drawn all the same.
    expect(byTemplate.edges).toContainEqual({ from: 3, to: 1, after: 'success' });
    expect(toSvg(byTemplate)).toContain('align');
    expect(draw(large, largeEdges, { title: 't', all: true }).nodes).toHaveLength(204);
  });

  it('has a limit, and says what helps', () => {
    const tasks = Array.from({ length: graphLimits.nodesMax + 1 }, (_, at) => task(at + 1));
    const refusal = (options: object) => {
      try {
        draw(tasks, [], { title: 't', ...options });
      } catch (error) {
        return error;
      }
      return 'none';
    };
    expect(refusal({ all: true })).toMatchObject({
      code: 'too-large',
      hint: expect.stringContaining('leave out --all'),
    });
    expect(refusal({})).toBe('none');
    const kinds = tasks.map((one) => ({ ...one, template: `t${one.index}` }));
    expect(() => draw(kinds, [], { title: 't' })).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  it('of a hundred thousand tasks takes no time to speak of', () => {
    const count = 100_000;
    const tasks = many(count, 1, 'x', () => 'done');
    const chain = Array.from({ length: 999 }, (_, at) =>
      edge([at * 100 + 1, at * 100 + 1], [at * 100 + 101, at * 100 + 101]),
    );
    const { nodes } = draw(tasks, [...chain, edge([1, 1], [2, 100])], { title: 't' });
    expect(nodes).toHaveLength(1_000);
  });
});

it('a level is one more than the deepest parent has, in whatever order edges come', () => {
  const edges = [edge([3, 3], [1, 1]), edge([2, 2], [3, 3]), edge([4, 5], [2, 2])];
  expect([...levelsOf(5, edges)].slice(1)).toEqual([3, 1, 2, 0, 0]);
});

const sizes: Sizes = {
  ...{ gapX: 10, gapY: 20, bendWidth: 4 },
  sizeOf: ({ id }) => ({ width: 20 + (id % 5) * 10, height: 10 }),
};

describe('a layout', () => {
  it('has no two nodes in one place, parents above their children, and edges that lead from one to the other', () => {
    const graph = fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 25 })), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(graph, (pairs) => {
        const edges = pairs.filter(([a, b]) => a < b).map(([a, b]) => edge([a, a], [b, b]));
        const drawing = draw(
          Array.from({ length: 25 }, (_, at) => task(at + 1)),
          edges,
          { title: 't' },
        );
        const layout = layOut(drawing, sizes);
        const placed = new Map(layout.nodes.map((one) => [one.node.id, one]));
        expect(placed.size).toBe(25);
        for (const a of layout.nodes) {
          expect(a.x - a.width / 2).toBeGreaterThanOrEqual(-0.001);
          expect(a.x + a.width / 2).toBeLessThanOrEqual(layout.width + 0.001);
          for (const b of layout.nodes) {
            if (a.node.id >= b.node.id || a.y !== b.y) continue;
            expect(Math.abs(a.x - b.x)).toBeGreaterThanOrEqual((a.width + b.width) / 2 + sizes.gapX - 0.001);
          }
        }
        for (const { edge: drawn, points } of layout.edges) {
          const [from, to] = [placed.get(drawn.from), placed.get(drawn.to)];
          expect(points[0]?.[0]).toBe(from?.x);
          expect(points.at(-1)?.[0]).toBe(to?.x);
          expect(from?.y).toBeLessThan(to?.y ?? 0);
        }
      }),
      madeUp(),
    );
  });

  it('puts a parent over the middle of its children', () => {
    const drawing = draw(
      [1, 2, 3, 4].map((index) => task(index)),
      [edge([1, 1], [2, 4])],
      { title: 't' },
    );
    const same: Sizes = { ...sizes, sizeOf: () => ({ width: 20, height: 10 }) };
    const [parent, , middle] = layOut(drawing, same).nodes;
    expect(parent?.x).toBeCloseTo(middle?.x ?? 0, 3);
  });
});

describe('a name', () => {
  const labelled = (label: string): Drawing => {
    const node: Node = { id: 1, kind: 'task', label, level: 0, states: new Map([['done', 1]]) };
    return { title: label, nodes: [node], edges: [] };
  };

  it.each([
    '</text><script>alert(1)</script>',
    `" onload='x'`,
    'a & b',
    '\u0000\u0001',
    '"] end; click',
    '#quot;',
    '\\" ]',
  ])('can not break out of its place: %j', (label) => {
    const svg = toSvg(labelled(label));
    expect(svg).not.toContain('<script');
    expect(svg.match(/<text /g)).toHaveLength(7);
    expect(svg.replaceAll(/<[^<>]*>/g, '')).not.toMatch(/[<>]|&(?!amp;|lt;|gt;|quot;|#39;)/);
    const node = toMermaid(labelled(label))
      .split('\n')
      .find((line) => line.startsWith('  n1'));
    expect(node).toMatch(/^ {2}n1\["[^"[\]]*"\]:::done$/);
    const inDot = /label=("(?:[^"\\]|\\.)*")/.exec(toDot(labelled(label)))?.[1] ?? '';
    expect(inDot.slice(1, -1).replaceAll(/\\(.)/g, '$1')).toBe(label);
  });

  it('of many kinds of edges and nodes is drawn by all formats', () => {
    const drawing = draw(large, largeEdges, { title: 'w1' });
    expect(toMermaid(drawing)).toContain('n1 -. any .-> n2');
    expect(toMermaid(drawing)).toContain('n2(( )):::done');
    expect(toDot(drawing)).toContain('n1 -> n2 [style=dashed, label="any"]');
    expect(toDot(drawing)).toContain('n2 [shape=point');
    const svg = toSvg(drawing);
    expect(svg).toContain('<circle');
    expect(svg).toContain('align ×200: 180 done, 20 failed');
    expect(svg).toContain('stroke-dasharray');
    expect(svg).not.toMatch(/href|url\(http|<style|<script/);
  });
});
