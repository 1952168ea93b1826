/** Brings a database to the schema of this program. Each step is one transaction with its version in it: killed anywhere, it is as before or done. */
import type { Database } from '../../base/sqlite.ts';
import { MIGRATIONS } from './migrations.ts';
import { DamagedError, NewerSchemaError } from './problem.ts';

export const LATEST = MIGRATIONS.length;

/** 0: an empty database. Throws NewerSchemaError for one that a later program has written, without having touched it. */
export function schemaVersion(db: Database, known: number = LATEST): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
  if (version > known) throw new NewerSchemaError(version, known);
  if (!(version >= 0)) throw new DamagedError(`the database has the impossible version ${version}`);
  return version;
}

export function migrate(db: Database, migrations: readonly string[] = MIGRATIONS): void {
  for (let version = schemaVersion(db, migrations.length) + 1; version <= migrations.length; version += 1) {
    transaction(db, () => {
      // Another process may have done it while we waited for our turn: a campaign and a daemon both bring it to the newest schema.
      if (schemaVersion(db, migrations.length) >= version) return;
      db.exec(migrations[version - 1]!);
      db.exec(`PRAGMA user_version = ${version}`);
    });
  }
}

/** All of it or nothing of it. The error of the work wins over one of the rollback, which some errors have done already. */
export function transaction(db: Database, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // SQLite rolls back by itself after a full disk or an I/O error; then there is nothing left to roll back.
    }
    throw error;
  }
}
