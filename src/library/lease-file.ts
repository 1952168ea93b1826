/** What must outlive an embedder about its sessions, in one JSON file that is replaced as a whole. Without it, labels tell the rest. */
import { renameSync } from 'node:fs';
import type { SessionRecord } from '../sessions/spec.ts';
import type { Log } from '../base/log.ts';
import { readRegularFile, writeNewFile } from '../base/regular-file.ts';

const VERSION = 1;

export interface LeaseFile {
  /** Empty when there is no such file, or none that can be read. */
  read(): readonly SessionRecord[];
  /** Does nothing when it says the same already. Never throws: what cannot be written now is written with the next change. */
  write(records: readonly SessionRecord[]): void;
}

export function openLeaseFile(path: string, log: Log): LeaseFile {
  let written = '';
  return {
    read: () => {
      try {
        const { sessions } = JSON.parse(readRegularFile(path, { follow: true })) as { readonly sessions?: unknown };
        return Array.isArray(sessions) ? sessions.filter(isRecord) : [];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
          log.warn(`${path} cannot be read: leases that were extended end as they were first given`, about(error));
        return [];
      }
    },
    write: (records) => {
      // Health comes and goes and is looked at anew by whoever reads this.
      const lasting = records.map((record) => ({ ...record, health: { status: 'unknown', reason: '' } }));
      const text = `${JSON.stringify({ version: VERSION, sessions: lasting }, null, 1)}\n`;
      if (text === written) return;
      const beside = `${path}.new-${process.pid}`;
      try {
        writeNewFile(beside, text, { flush: false });
        renameSync(beside, path);
        written = text;
      } catch (error) {
        log.warn(`${path} cannot be written: trying again with the next change`, about(error));
      }
    },
  };
}

const about = (error: unknown) => ({ error: (error as Error).message });

/** Enough to be sure that it is one of ours; what is in it was written by `write`. */
function isRecord(value: unknown): value is SessionRecord {
  const record = value as Partial<SessionRecord> | null;
  return (
    typeof record?.id === 'string' &&
    typeof record.user === 'string' &&
    typeof record.template === 'string' &&
    typeof record.state === 'string' &&
    typeof record.lease?.expiresAt === 'number' &&
    typeof record.terms?.maxTtlMs === 'number'
  );
}
