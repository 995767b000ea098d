/** A drawing as a picture that needs nothing else: no script, no font, no style sheet. */
import { colours, type Drawing, type Node, statesText, toneOfNode, tones, tonesOf } from './drawing.ts';
import { layOut, type Placed, type Routed, type Sizes } from './layout.ts';

const fontSize = 11;
/** A sans-serif letter of that size is about so wide, on average; boxes have room to spare. */
const letterWidth = 6.2;
const padding = 10;
const boxHeight = 26;
const joinRadius = 4;
const margin = 20;
const headHeight = 56;
const barHeight = 4;

const sizes: Sizes = {
  gapX: 18,
  gapY: 44,
  bendWidth: 6,
  sizeOf: ({ kind, label }) =>
    kind === 'join'
      ? { width: 2 * joinRadius, height: 2 * joinRadius }
      : { width: Math.ceil([...label].length * letterWidth) + 2 * padding, height: boxHeight },
};

export function toSvg(drawing: Drawing): string {
  const layout = layOut(drawing, sizes);
  const width = Math.ceil(Math.max(layout.width, legendWidth) + 2 * margin);
  const height = Math.ceil(layout.height + headHeight + 2 * margin);
  const shiftX = (width - layout.width) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="${fontSize}">`,
    `<title>${escaped(drawing.title)}</title>`,
    '<rect width="100%" height="100%" fill="#ffffff"/>',
    `<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#777777"/></marker></defs>`,
    `<text x="${margin}" y="${margin + 8}" font-size="14" font-weight="bold" fill="#111111">${escaped(drawing.title)}</text>`,
    legend(),
    `<g transform="translate(${round(shiftX)} ${margin + headHeight})">`,
    '<g fill="none" stroke="#777777">',
    ...layout.edges.map(edgePath),
    '</g>',
    ...layout.nodes.map(nodeShape),
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

const legendStep = 90;
const legendWidth = tones.length * legendStep;

function legend(): string {
  const entries = tones.toReversed().map((tone, at) => {
    const x = margin + at * legendStep;
    const { fill, line } = colours[tone];
    return `<rect x="${x}" y="${margin + 20}" width="12" height="12" rx="2" fill="${fill}" stroke="${line}"/><text x="${x + 18}" y="${margin + 30}" fill="#333333">${tone}</text>`;
  });
  return entries.join('\n');
}

/** Smooth, and vertical at both ends of each part. */
function edgePath({ edge: { after }, points }: Routed): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${round(first[0])} ${round(first[1])}`;
  let [beforeX, beforeY] = first;
  for (const [x, y] of rest) {
    const middle = round((beforeY + y) / 2);
    path += `C${round(beforeX)} ${middle} ${round(x)} ${middle} ${round(x)} ${round(y)}`;
    [beforeX, beforeY] = [x, y];
  }
  const dashes = after === 'success' ? '' : ` stroke-dasharray="${after === 'any' ? '4 3' : '1 3'}"`;
  const about = after === 'success' ? '/>' : `><title>after ${after}</title></path>`;
  return `<path d="${path}" marker-end="url(#tip)"${dashes}${about}`;
}

function nodeShape({ node, x, y, width, height }: Placed): string {
  const { fill, line } = colours[toneOfNode(node)];
  const about = `<title>${escaped(node.kind === 'join' ? `join: ${statesText(node.states)}` : aboutOf(node))}</title>`;
  if (node.kind === 'join')
    return `<circle cx="${round(x)}" cy="${round(y)}" r="${joinRadius}" fill="${line}">${about}</circle>`;
  const [left, top] = [x - width / 2, y - height / 2];
  const box = `<rect x="${round(left)}" y="${round(top)}" width="${width}" height="${height}" rx="5" fill="${fill}" stroke="${line}"/>`;
  const bar = node.kind === 'group' ? shares(node, left, top + height - barHeight, width) : '';
  const label = `<text x="${round(x)}" y="${round(y + fontSize / 3)}" text-anchor="middle" fill="#111111">${escaped(node.label)}</text>`;
  return `<g>${about}${box}${bar}${label}</g>`;
}

const aboutOf = ({ kind, label, states }: Node): string =>
  kind === 'group' ? label : `${label}: ${[...states.keys()].join()}`;

/** How much of a group is how far. */
function shares(node: Node, left: number, top: number, width: number): string {
  const counts = tonesOf(node);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  let x = left;
  return tones
    .toReversed()
    .map((tone) => {
      const part = ((counts.get(tone) ?? 0) / total) * width;
      const rect =
        part === 0
          ? ''
          : `<rect x="${round(x)}" y="${round(top)}" width="${round(part)}" height="${barHeight}" fill="${colours[tone].line}"/>`;
      x += part;
      return rect;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 10) / 10;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that XML does not have are left out, however they got into a name. */
const escaped = (text: string): string =>
  text
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '');
