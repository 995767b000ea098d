/** A drawing as a Mermaid flowchart, which many viewers of Markdown show as a picture. */
import { colours, type Drawing, type Edge, type Node, toneOfNode, tones } from './drawing.ts';

export function toMermaid({ title, nodes, edges }: Drawing): string {
  const classes = tones.map(
    (tone) => `  classDef ${tone} fill:${colours[tone].fill},stroke:${colours[tone].line},color:#111`,
  );
  return [
    '---',
    `title: ${JSON.stringify(title)}`,
    '---',
    'flowchart TD',
    ...nodes.map((node) => `  ${shape(node)}:::${toneOfNode(node)}`),
    ...edges.map((edge) => `  ${arrow(edge)}`),
    ...classes,
    '',
  ].join('\n');
}

const shape = ({ id, kind, label }: Node): string =>
  kind === 'join' ? `n${id}(( ))` : kind === 'group' ? `n${id}[["${escaped(label)}"]]` : `n${id}["${escaped(label)}"]`;

const arrow = ({ from, to, after }: Edge): string =>
  after === 'success' ? `n${from} --> n${to}` : `n${from} -. ${after} .-> n${to}`;

/** All that could mean something to it is written by its number. */
const escaped = (text: string): string =>
  text.replaceAll(/[^\p{L}\p{N} .,:×_/()=+-]/gu, (character) => `#${character.codePointAt(0)};`);
