/** What an encrypted connection to the Engine needs: ca.pem, cert.pem and key.pem of one directory, as Docker keeps them. */
import { join } from 'node:path';
import { NotOursError, readRegularFile } from '../base/regular-file.ts';

export interface Credentials {
  /** Who vouches for the Engine; absent: whom the system trusts. */
  readonly ca?: string;
  /** Who we are; absent: nobody asks. */
  readonly cert?: string;
  readonly key?: string;
  /** False: whoever answers is believed. Only where a Docker context says so. */
  readonly verify: boolean;
}

/** Files that are not there are not needed. `why`: one is there and cannot be read, or is there without its other half. */
export function readCredentials(dir: string, verify: boolean): Credentials | { readonly why: string } {
  try {
    const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => read(join(dir, name)));
    if ((cert === undefined) !== (key === undefined))
      return { why: `of cert.pem and key.pem in ${dir}, only one is there` };
    return { verify, ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) };
  } catch (error) {
    return { why: (error as Error).message };
  }
}

function read(path: string): string | undefined {
  try {
    return readRegularFile(path, { follow: true });
  } catch (error) {
    if (error instanceof NotOursError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`${path} cannot be read (${code})`);
  }
}
