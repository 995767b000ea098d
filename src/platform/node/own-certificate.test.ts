import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeCertificate } from './certificate.ts';
import { daysLeft, loadOwnCertificate } from './own-certificate.ts';

const now = Date.parse('2030-06-01');
const years = (count: number): Date => new Date(Date.parse('2030-06-01') + count * 365.25 * 86_400_000);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'drover-tls-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function files(certificate: string, key: string) {
  const paths = { certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(paths.certificate, certificate);
  writeFileSync(paths.key, key);
  return paths;
}

describe('a certificate that was brought along', () => {
  it('is taken as it is, with what follows it', () => {
    const [made, issuer] = [makeCertificate(new Date(now)), makeCertificate(new Date(now))];
    const chain = made.certificate + issuer.certificate;
    expect(loadOwnCertificate(files(chain, made.key), now)).toEqual({ certificate: chain, key: made.key });
  });

  it.each<[string, () => ReturnType<typeof files>, RegExp]>([
    [
      'is missing',
      () => ({ certificate: join(folder, 'none'), key: join(folder, 'none') }),
      /--tls-cert.*no such file/,
    ],
    ['is a folder', () => ({ certificate: folder, key: folder }), /EISDIR/],
    ['is none', () => files('hello', 'hello'), /has no certificate in PEM/],
    ['has no key', () => files(makeCertificate(new Date(now)).certificate, 'hello'), /has no private key/],
    [
      'has a key with a passphrase',
      () => files(makeCertificate(new Date(now)).certificate, '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n'),
      /locked with a passphrase/,
    ],
    [
      'has the key of another',
      () => files(makeCertificate(new Date(now)).certificate, makeCertificate(new Date(now)).key),
      /is not the key of/,
    ],
    [
      'has expired',
      () => {
        const { certificate, key } = makeCertificate(years(-21));
        return files(certificate, key);
      },
      /expired at 2029/,
    ],
    [
      'is not valid yet',
      () => {
        const { certificate, key } = makeCertificate(years(1));
        return files(certificate, key);
      },
      /not valid before 2031/,
    ],
  ])('and %s is refused, with what is wrong', (_, make, message) => {
    expect(() => loadOwnCertificate(make(), now)).toThrow(
      expect.objectContaining({ code: 'certificate-unusable', message: expect.stringMatching(message) }),
    );
  });

  it.skipIf(process.getuid?.() === 0)('and may not be read is refused', () => {
    const { certificate, key } = makeCertificate(new Date(now));
    const paths = files(certificate, key);
    chmodSync(paths.key, 0);
    expect(() => loadOwnCertificate(paths, now)).toThrow(/may not be read/);
  });
});

it('a certificate tells how many days are left once they are few', () => {
  const { certificate } = makeCertificate(new Date(now));
  expect(daysLeft(certificate, now)).toBeUndefined();
  const end = Date.parse('2050-06-01');
  expect(daysLeft(certificate, end - 10.5 * 86_400_000)).toBe(10);
});
