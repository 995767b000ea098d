/** A server with a certificate of the operator's own. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeCertificate } from '../../src/platform/node/certificate.ts';
import { until } from './drover.ts';
import { Herd } from './herd.ts';

let herd: Herd;
beforeEach(() => {
  herd = new Herd();
});
afterEach(() => herd.close());

function write(name: string, { certificate, key }: ReturnType<typeof makeCertificate>): string[] {
  writeFileSync(herd.file(`${name}.pem`), certificate);
  writeFileSync(herd.file(`${name}.key`), key, { mode: 0o600 });
  return ['--tls-cert', `${name}.pem`, '--tls-key', `${name}.key`];
}

const log = (): string => readFileSync(herd.file('.drover/logs/controller.log'), 'utf8');

/** Workers and commands alike, who know it by the access file. */
async function mustServe(...args: string[]): Promise<void> {
  await herd.server('--listen', '0.0.0.0:0', ...args);
  const worker = herd.start(['worker']);
  await until('the worker is there', () => worker.stderr().includes('connected to the controller at https:'));
  expect(await herd.ok('run', '--server', 'echo', ':::', 'a')).toBe('a\n');
}

it('serves commands and workers with it, and warns in its log before it expires', async () => {
  const soon = new Date();
  soon.setUTCFullYear(soon.getUTCFullYear() - 20);
  soon.setUTCDate(soon.getUTCDate() + 10);
  await mustServe(...write('own', makeCertificate(soon)));
  expect(log()).toMatch(/"days":\d,.*the certificate is about to expire/);
});

const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version']);
    return true;
  } catch {
    return false;
  }
})();

it.runIf(hasOpenssl)('is known by its own certificate also where an authority has issued that', async () => {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: herd.path, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority', '-days', '99');
  openssl('req', ...key, '-keyout', 'host.key', '-out', 'host.csr', '-subj', '/CN=some.where');
  openssl('x509', '-req', '-in', 'host.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-days', '98', '-out', 'leaf.pem');
  const [leaf, authority] = ['leaf.pem', 'ca.pem'].map((name) => readFileSync(herd.file(name), 'utf8'));
  herd.write('host.pem', `${leaf}${authority}`);
  await mustServe('--tls-cert', 'host.pem', '--tls-key', 'host.key');
  expect(log()).not.toContain('about to expire');
  const { certificate } = JSON.parse(readFileSync(herd.file('.drover/access.json'), 'utf8')) as { certificate: string };
  expect(certificate.trim()).toBe(leaf?.trim());
});

it('does not start with one that it can not use, in the foreground and in the background', async () => {
  const one = write('one', makeCertificate(new Date()));
  write('other', makeCertificate(new Date()));
  for (const [args, message] of [
    [['--tls-cert', 'one.pem'], /belong together/],
    [['--tls-cert', 'one.pem', '--tls-key', 'other.key'], /is not the key of/],
    [['--tls-cert', 'none.pem', '--tls-key', 'one.key'], /no such file/],
  ] as const) {
    for (const how of [[], ['--detach']]) {
      const { code, stderr } = await herd.run('server', ...how, '--listen', '0.0.0.0:0', ...args);
      expect([code, stderr]).toEqual([expect.toBeOneOf([2, 4]), expect.stringMatching(message)]);
    }
  }
  await herd.server(...one);
  expect(await herd.ok('server', 'status')).toContain('https://127.0.0.1:');
});
