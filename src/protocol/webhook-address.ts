/**
 * Which addresses a webhook must not be at: the services of clouds by which a machine learns its own secrets, and what stands
 * for no machine at all. For who takes a notification, where it names an address, and for who makes the call, whatever a name
 * stands for by then.
 */

/** The first bits of addresses, and how many of them count. */
type Prefix = readonly [address: string, bits: number];

const never: readonly Prefix[] = [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
  ['100.100.100.200', 32],
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
];

const loopback: readonly Prefix[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];

export interface Reach {
  /** Where only people of this machine submit, they may also reach what listens on it. */
  readonly mayReachLoopback: boolean;
}

/** The address that a web address has in the place of a name; undefined where it has a name. */
export function literalAddress(url: string): string | undefined {
  const { hostname } = new URL(url);
  if (hostname.startsWith('[')) return hostname.slice(1, -1);
  return /^\d+(\.\d+){3}$/.test(hostname) ? hostname : undefined;
}

/** What is no address at all is none that may be reached. */
export function isForbiddenAddress(address: string, { mayReachLoopback }: Reach): boolean {
  const bytes = bytesOf(address);
  if (bytes === undefined) return true;
  return [...never, ...(mayReachLoopback ? [] : loopback)].some((prefix) => begins(bytes, prefix));
}

export const forbiddenAddress = (address: string): string => `${address} is not an address that webhooks may reach`;

function begins(bytes: readonly number[], [address, bits]: Prefix): boolean {
  const first = bytesOf(address) ?? [];
  if (first.length !== bytes.length) return false;
  return bytes.every((byte, at) => {
    const mask = 0xff & ~(0xff >> Math.min(8, Math.max(0, bits - 8 * at)));
    return ((byte ^ (first[at] as number)) & mask) === 0;
  });
}

/** Four of IPv4, also where that is written as an address of IPv6; else sixteen. */
function bytesOf(address: string): readonly number[] | undefined {
  const url = `http://${address.includes(':') ? `[${address}]` : address}`;
  const literal = URL.canParse(url) ? literalAddress(url) : undefined;
  if (literal === undefined) return undefined;
  if (!literal.includes(':')) return literal.split('.').map(Number);
  // As URLs have it, without parts in decimals.
  const [before, after] = literal.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const [head = [], tail = []] = [before, after];
  const groups = [...head, ...new Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 0xff]);
  return isMapped(bytes) ? bytes.slice(12) : bytes;
}

/** `::ffff:127.0.0.1` */
const isMapped = (bytes: readonly number[]): boolean =>
  bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
