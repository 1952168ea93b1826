/** Databases as earlier releases have left them. */
import { readFileSync } from 'node:fs';
import { loadSqlite } from '../../../src/base/sqlite.ts';

export const golden = (version: number): string => `test/fixtures/store/v${version}.sql`;

export async function restoreGolden(version: number, path: string): Promise<void> {
  const db = (await loadSqlite()).open(path, 'read-write');
  db.exec(readFileSync(golden(version), 'utf8'));
  db.close();
}
