/** Makes sure, once before all tests, that what they need is there: the bundles, and a few programs. */
import { execFileSync, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..');

/** A program that tests call, and the Debian package that has it. Installed when possible, else named. */
function needDebian(packageName: string, program: string): void {
  if (isThere(program)) return;
  const command = `apt-get install -y --no-install-recommends ${packageName}`;
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    const install = spawnSync('sh', ['-c', `apt-get update -qq && ${command} -qq`], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      encoding: 'utf8',
    });
    if (install.status === 0 && isThere(program)) return;
    throw new Error(`The tests need ${program}, and this failed: ${command}\n${install.stdout}${install.stderr}`);
  }
  throw new Error(`The tests need ${program}. On Debian: sudo ${command}`);
}

function isThere(program: string): boolean {
  return spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', program]).status === 0;
}

export function setup(): void {
  needDebian('bash', 'bash');
  needDebian('procps', 'ps');
  needDebian('util-linux', 'setsid');
  needDebian('curl', 'curl');
  needDebian('jq', 'jq');
  needDebian('openssl', 'openssl');
  needDebian('python3', 'python3');
  needDebian('chromium', 'chromium');
  execFileSync('sh', ['scripts/set-up.sh'], { cwd: root, stdio: 'inherit' });
}
