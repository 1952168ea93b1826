/** A certificate that nobody vouches for. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tempDir } from '../../support/temp-dir.ts';

export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** For localhost and 127.0.0.1; null where openssl is missing. */
export function selfSigned(): Identity | null {
  using dir = tempDir();
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const files = ['-keyout', dir.at('key.pem'), '-out', dir.at('cert.pem')];
  const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files];
  if (spawnSync('openssl', args, { stdio: 'ignore' }).status !== 0) return null;
  return { key: readFileSync(dir.at('key.pem'), 'utf8'), cert: readFileSync(dir.at('cert.pem'), 'utf8') };
}
