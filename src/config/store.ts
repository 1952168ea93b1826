/** Where the history is, complete. */

import { z } from 'zod';
import type { StoreSpec } from '../history/spec.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { databaseAddress, optional, path, positiveDuration } from './leaves.ts';

export function storeSpec(config: StoreConfig | undefined, absolute: (path: string) => string): StoreSpec {
  return {
    path: config?.path === undefined ? null : absolute(config.path),
    retentionMs: config?.retention ?? DEFAULTS.store.retentionMs,
    fleet: config?.fleet ?? null,
  };
}

// Where the history is kept, and for how long.

export const storeSchema = z.strictObject({
  path: optional(path, {
    description:
      'The file of the database, relative to the folder of the first configuration file. A database at the old place is moved when the daemon starts.',
    defaultNote: '`keepwell.db` in the state directory',
    example: '/var/lib/keepwell/history.db',
  }),
  retention: optional(positiveDuration, {
    description:
      'How long crashes, runs, events, resolved incidents, closed tickets and ended sessions are kept. What is open is kept in any case.',
    defaultsTo: durationText(DEFAULTS.store.retentionMs),
    example: '30d',
  }),
  fleet: optional(databaseAddress, {
    description:
      'A PostgreSQL database that several hosts share, as `postgres://user:password@host/database`: one open incident and one ticket for each problem over all of them, one host that alerts, and `--fleet` answers from it. The password may be a variable. See docs/guide/several-machines.md.',
    defaultNote: 'none: this host shares with nobody',
    example: `postgres://keepwell:\${FLEET_PASSWORD}@db.example.com/keepwell?sslmode=verify-full`,
  }),
});

export type StoreConfig = z.output<typeof storeSchema>;
