import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isForbiddenAddress, literalAddress } from './webhook-address.ts';

/** The same by what Node has for it, which is not to be had where notifications are taken. */
const nodes = new BlockList();
for (const [address, bits] of [
  ...[['0.0.0.0', 8] as const, ['169.254.0.0', 16] as const, ['224.0.0.0', 3] as const],
  ...[['100.100.100.200', 32] as const, ['127.0.0.0', 8] as const],
]) {
  nodes.addSubnet(address, bits, 'ipv4');
}
for (const [address, bits] of [
  ...[['::', 128] as const, ['::1', 128] as const, ['fe80::', 10] as const, ['ff00::', 8] as const],
  ['fd00:ec2::254', 128] as const,
]) {
  nodes.addSubnet(address, bits, 'ipv6');
}

const byte = fc.oneof(fc.constantFrom(0, 1, 100, 127, 169, 200, 254), fc.nat(255));
const ipv4 = fc.tuple(byte, byte, byte, byte).map((bytes) => bytes.join('.'));
const group = fc.constantFrom('0', '1', 'fe80', 'febf', 'fec0', 'ff02', 'fd00', 'ec2', '254', 'ffff', '7f00', 'a9fe');
const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':'));
const mapped = ipv4.map((address) => `::ffff:${address}`);

describe('addresses that webhooks must not be at', () => {
  it('are those that a list of Node finds', () => {
    fc.assert(
      fc.property(fc.oneof(ipv4, ipv6, mapped, fc.ipV4(), fc.ipV6()), (address) => {
        const isForbidden = nodes.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
        expect(isForbiddenAddress(address, { mayReachLoopback: false })).toBe(isForbidden);
      }),
    );
  });

  it('are those of the machine itself only where others submit', () => {
    const own = ['127.0.0.1', '::1', '::ffff:127.0.0.1'];
    expect(own.map((address) => isForbiddenAddress(address, { mayReachLoopback: true }))).toEqual([
      false,
      false,
      false,
    ]);
    expect(own.map((address) => isForbiddenAddress(address, { mayReachLoopback: false }))).toEqual([true, true, true]);
  });

  it('are also what is no address', () => {
    const found = ['', 'example.org', ':1'].filter((text) => !isForbiddenAddress(text, { mayReachLoopback: true }));
    expect(found).toEqual([]);
  });
});

it.each([
  ['http://169.254.169.254/x', '169.254.169.254'],
  ['http://0xa9fea9fe/', '169.254.169.254'],
  ['http://169.254.169.254./', '169.254.169.254'],
  ['https://[FE80::1]:8443/', 'fe80::1'],
  ['https://10.0.0.1.example.org/', undefined],
  ['https://example.org/', undefined],
])('the address that %s names is %s', (url, address) => {
  expect(literalAddress(url)).toBe(address);
});
