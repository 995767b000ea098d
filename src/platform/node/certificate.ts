/**
 * The controller's certificate: made at its first start off loopback, kept, and pinned by all who have the access file.
 * Self-signed: nobody else vouches for it, and nobody has to, since its very bytes are what a client trusts.
 *
 * Written in DER by hand: it is the one fixed shape below, and the libraries that write certificates bring twenty
 * packages along.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onDisk } from './disk-failure.ts';

export interface Certificate {
  readonly key: string;
  readonly certificate: string;
}

const lifetimeYears = 20;

export function loadCertificate(directory: string): Certificate {
  const [keyPath, certificatePath] = [join(directory, 'tls-key.pem'), join(directory, 'tls-certificate.pem')];
  if (!existsSync(keyPath) || !existsSync(certificatePath)) {
    const made = makeCertificate(new Date());
    try {
      onDisk(certificatePath, () => {
        writeFileSync(keyPath, made.key, { mode: 0o600 });
        writeFileSync(certificatePath, made.certificate, { mode: 0o600 });
      });
    } catch (error) {
      // Half of one would be taken for whole at the next start.
      for (const path of [keyPath, certificatePath]) rmSync(path, { force: true });
      throw error;
    }
  }
  return { key: readFileSync(keyPath, 'utf8'), certificate: readFileSync(certificatePath, 'utf8') };
}

export function makeCertificate(now: Date): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = certificateBody(publicKey, now);
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, ecdsaWithSha256, element(tag.bitString, Buffer.from([0]), signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

const tag = {
  integer: 0x02,
  bitString: 0x03,
  oid: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
};
const versionThree = Buffer.from([0xa0, 0x03, 0x02, 0x01, 0x02]);

/** A DER element: its tag, its length, its contents. */
function element(kind: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([kind, length]), content]);
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([kind, ...long]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => element(tag.sequence, ...parts);

/** 1.2.840.10045.4.3.2 */
const ecdsaWithSha256 = sequence(element(tag.oid, Buffer.from([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02])));
/** 2.5.4.3 */
const commonName = element(tag.oid, Buffer.from([0x55, 0x04, 0x03]));
const name = sequence(element(tag.set, sequence(commonName, element(tag.utf8, Buffer.from('drover controller')))));

function certificateBody(publicKey: KeyObject, now: Date): Buffer {
  // A leading byte of 1: a serial number is positive.
  const serial = element(tag.integer, Buffer.from([1]), randomBytes(15));
  const until = new Date(now);
  until.setUTCFullYear(now.getUTCFullYear() + lifetimeYears);
  // From the day before: clocks differ.
  const validity = sequence(time(new Date(now.getTime() - 86_400_000)), time(until));
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' });
  return sequence(versionThree, serial, ecdsaWithSha256, name, validity, name, subjectKey);
}

/** Two digits of the year up to 2049, four after it, as the standard wants. */
function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050
    ? element(tag.utcTime, Buffer.from(digits.slice(2)))
    : element(tag.generalizedTime, Buffer.from(digits));
}
