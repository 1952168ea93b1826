/** Reads and writes the rows of a database. */

import type { Database, Row, SqlValue, Statement } from '../../base/sqlite.ts';
import { atMost } from '../cells.ts';
import { type Entry, TABLES, WRITTEN } from '../entry.ts';
import { type Conditions, conditionsOf, type RowQuery, type Rows, type Selection, type Table } from '../table.ts';
import { LATEST, transaction } from './migrations.ts';

/** Such a database is read as it is where it cannot be brought to our schema: before `up`, or on a full disk. */
export const OLDEST_READABLE = 1;

/** No iterators: a read that stays open would keep the WAL from being emptied. */
export class SqliteRows implements Rows {
  readonly #db: Database;
  readonly #version: number;
  readonly #statements = new Map<string, Statement>();

  /** Looks at every table, so that a schema that does not fit is found at opening. */
  constructor(db: Database, version: number) {
    this.#db = db;
    this.#version = version;
    for (const table of TABLES) this.select(table, { limit: 0 });
  }

  select(from: RowQuery, which: Selection): readonly Row[] {
    // What a database of an older version cannot be asked: there is nothing of it in there.
    if (from.since > this.#version) return [];
    const conditions = conditionsOf(which.where);
    const statement = this.#prepared(this.#sql(from, which, conditions));
    const values: Record<string, SqlValue> = { limit: atMost(which.limit ?? Infinity) };
    for (const [column, { value }] of conditions) values[column] = value;
    if (which.limit !== 1) return statement.all(values);
    const row = statement.get(values);
    return row === undefined ? [] : [row];
  }

  #sql(from: RowQuery, { isOpen, newestFirst, columns = from.reads }: Selection, conditions: Conditions): string {
    // An older version may not have all columns that are asked for.
    const read = columns === undefined || this.#version < LATEST ? ['*'] : columns;
    const must = conditions.map(([column, { sql }]) => `${column} ${sql} $${column}`);
    // In these words, for an index that has only those that are open.
    if (isOpen) must.push(...(from.over ?? []).map((state) => `state <> '${state}'`));
    const direction = newestFirst ? ' DESC' : '';
    return `SELECT ${[...from.key, ...from.order, ...read].join(', ')} FROM ${from.table}
      ${must.length === 0 ? '' : `WHERE ${must.join(' AND ')}`}
      ORDER BY ${from.order.map((column) => `${column}${direction}`).join(', ')} LIMIT $limit`;
  }

  /** A statement for each combination of conditions: one with "or null" in it could use no index. */
  #prepared(sql: string): Statement {
    const statement = this.#statements.get(sql) ?? this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** Every statement may be repeated without harm: a retry writes the same rows. */
export class Writer {
  readonly #db: Database;
  readonly #statements: ReadonlyMap<Table, Statement>;
  #syncsLater = false;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = new Map(WRITTEN.map((table) => [table, db.prepare(upsertSql(table))]));
  }

  /** One transaction. `syncLater`: not waited for until it is on the disk. */
  write(batch: readonly Entry[], syncLater: boolean): void {
    if (syncLater !== this.#syncsLater) {
      this.#db.exec(`PRAGMA synchronous = ${syncLater ? 'NORMAL' : 'FULL'}`);
      this.#syncsLater = syncLater;
    }
    transaction(this.#db, () => {
      for (const { writes } of batch)
        for (const { into, row, isGone } of writes) {
          const statement = isGone ? this.#db.prepare(deleteSql(into)) : this.#statements.get(into)!;
          statement.run(row);
        }
    });
  }
}

export function upsertSql({ table, key, columns, replaced, onlyIf }: Table): string {
  const values = columns.map((column) => `$${column}`).join(', ');
  const changes = replaced.map((column) => `${column} = excluded.${column}`).join(', ');
  const update = replaced.length === 0 ? 'NOTHING' : `UPDATE SET ${changes}`;
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})
    ON CONFLICT (${key.join(', ')}) DO ${update}${onlyIf === undefined ? '' : ` WHERE ${onlyIf.sql}`}`;
}

const deleteSql = ({ table, key }: Table): string =>
  `DELETE FROM ${table} WHERE ${key.map((column) => `${column} = $${column}`).join(' AND ')}`;
