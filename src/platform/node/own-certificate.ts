/** A certificate that the operator brings along: looked at when the server starts, so that no client finds out first. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DroverError } from '../../model/errors.ts';
import type { Certificate } from './certificate.ts';

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

const oneDayMs = 86_400_000;
/** Time enough to get a new one. */
export const renewalMs = 30 * oneDayMs;

/** The file of the certificate may go on with those of its issuers. */
export function loadOwnCertificate(files: CertificateFiles, now: number): Certificate {
  const certificate = readPem(files.certificate, '--tls-cert');
  const key = readPem(files.key, '--tls-key');
  const parsed = parseCertificate(certificate, files.certificate);
  if (!parsed.checkPrivateKey(parseKey(key, files.key))) {
    throw bad(`${files.key} is not the key of ${files.certificate}`, 'name the two files that belong together');
  }
  if (parsed.validToDate.getTime() <= now) {
    throw bad(`${files.certificate} expired at ${parsed.validToDate.toISOString()}`, 'renew it first');
  }
  if (parsed.validFromDate.getTime() > now) {
    throw bad(`${files.certificate} is not valid before ${parsed.validFromDate.toISOString()}`, 'is the clock right?');
  }
  return { key, certificate };
}

/** Whole days for which a certificate is still valid, once they are few. */
export function daysLeft(certificate: string, now: number): number | undefined {
  const left = new X509Certificate(certificate).validToDate.getTime() - now;
  return left < renewalMs ? Math.floor(left / oneDayMs) : undefined;
}

/** What clients pin: the certificate itself, without those of its issuers. */
export const leafOf = (certificate: string): string => new X509Certificate(certificate).toString();

function readPem(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    const why = code === 'ENOENT' ? 'there is no such file' : code === 'EACCES' ? 'it may not be read' : String(code);
    throw bad(`${option}: can't read ${path}: ${why}`, 'name a file in PEM that the server may read', cause);
  }
}

function parseCertificate(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (cause) {
    throw bad(`${path} has no certificate in PEM`, 'it begins with -----BEGIN CERTIFICATE-----', cause);
  }
}

function parseKey(text: string, path: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const isLocked = /ENCRYPTED/.test(text);
    throw bad(
      isLocked ? `${path} is locked with a passphrase` : `${path} has no private key in PEM`,
      isLocked
        ? 'a server starts unattended: give it the key without one'
        : 'it begins with -----BEGIN PRIVATE KEY-----',
      cause,
    );
  }
}

const bad = (message: string, hint: string, cause?: unknown): DroverError =>
  new DroverError('certificate-unusable', message, { hint, cause });
