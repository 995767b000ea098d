/** A drawing in the language of Graphviz. */
import { colours, type Drawing, type Edge, type Node, toneOfNode } from './drawing.ts';

export function toDot({ title, nodes, edges }: Drawing): string {
  return [
    `digraph ${quoted(title)} {`,
    '  rankdir=TB;',
    '  node [shape=box, style="filled,rounded", fontname="sans-serif", fontsize=10];',
    ...nodes.map((node) => `  n${node.id} [${attributes(node)}];`),
    ...edges.map((edge) => `  n${edge.from} -> n${edge.to}${style(edge)};`),
    '}',
    '',
  ].join('\n');
}

function attributes(node: Node): string {
  const { fill, line } = colours[toneOfNode(node)];
  if (node.kind === 'join') return `shape=point, width=0.1, label="", color="${line}"`;
  const more = node.kind === 'group' ? ', peripheries=2' : '';
  return `label=${quoted(node.label)}, fillcolor="${fill}", color="${line}"${more}`;
}

const style = ({ after }: Edge): string => (after === 'success' ? '' : ` [style=dashed, label=${quoted(after)}]`);

/** A backslash would begin an escape of Graphviz. */
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
