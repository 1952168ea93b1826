/** What a short command reads from its standard input: a file without a name, so that nobody waits for a command that does not read. */
import { randomBytes } from 'node:crypto';
import { closeSync, fchownSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../account/account.ts';

/** `dir`: where it has its name for a moment. Throws when there is no room. */
export function openInput(text: string, account: Account | null, dir: string): number {
  const path = join(dir, `.input-${randomBytes(8).toString('hex')}`);
  const fd = openSync(path, 'wx+', 0o600);
  try {
    unlinkSync(path); // before there is anything in it
    const bytes = Buffer.from(text);
    // At a position: whoever reads it next begins at the beginning.
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    if (account !== null) fchownSync(fd, account.uid, account.gid);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
